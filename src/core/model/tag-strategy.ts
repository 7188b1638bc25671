/**
 * How a policy chooses among tags. A strategy is validated when it is built, and never throws when it is used. Each is one file with a factory. The candidate
 * that is greatest by `compare` is selected. select-tag.ts decides between equal ranks, and filter-tags.ts decides which tags the strategy gets.
 */
export interface TagStrategy {
  /** The unique id of the strategy, which is also in its file name, in messages and in metrics. */
  readonly id: 'semver' | 'digest' | 'newest' | 'alphabetical' | 'numerical' | 'proven' | 'replace';
  /** A description of the selection for sentences: `the highest version in ">=1.2 <2"`. */
  readonly description: string;
  /** A note about a common misunderstanding, which is shown with the selection. */
  readonly note?: string;
  /** The one tag that is followed by its digest; other strategies choose among the repository's tags. */
  readonly mutableTag?: string;
  /** Present if nothing limits the versions that are candidates. */
  readonly isUnbounded?: true;
  /** Present if the image is the one that other policies run (`select.proven`): its digest decides, and names of tags say nothing. */
  readonly isProven?: true;
  /** The only tag that may be replaced; absent for any tag. */
  readonly replaces?: string;
  /** Why the tag is not a candidate, as the end of a sentence; undefined if it is a candidate. */
  reject(tag: string): string | undefined;
  /** Compares the ranks of two candidates: negative if `a` is older than `b`, 0 if neither is newer. */
  compare(a: string, b: string): number;
  /** Compares the images of two tags by their age, even if the tags are no candidates. Negative if `a` is older; undefined if that is not known. */
  compareAges?(a: string, b: string): number | undefined;
  /** The part of the tag that is compared, if that is not the whole tag; undefined if the tag has no such part. */
  partOf?(tag: string): string | undefined;
  /** The maximum cost of rejecting a tag or extracting its part, in steps of the policy's patterns; absent if it has none. */
  costOf?(tag: string): number;
  /** A copy of the strategy that caches the part of each tag. It is used for one reconcile, which reads each part several times. */
  remembering?(): TagStrategy;
  /** A copy of the strategy that knows the creation time of each tag's image. Only strategies that do not order by name have it. */
  readonly withCreationTimes?: (created: CreationTimes) => TagStrategy;
}

/** Whether names of tags show which of two images is newer. */
export function isOrderedByName({ mutableTag, withCreationTimes, isProven }: TagStrategy): boolean {
  return mutableTag === undefined && withCreationTimes === undefined && isProven === undefined;
}

/** The creation time of the image of each tag according to its configuration. It is undefined if the configuration has none, and absent if it was not read. */
export type CreationTimes = ReadonlyMap<string, Date | undefined>;
