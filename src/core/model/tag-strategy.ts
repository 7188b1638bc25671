/**
 * How a policy chooses among tags. Validated when built, never throws when used. Every strategy is one file with a factory.
 * The candidate that is greatest by `compare` is selected; select-tag.ts decides between equal ranks, and filter-tags.ts decides which tags the strategy
 * sees.
 */
export interface TagStrategy {
  /** The unique id: used in the file name, in messages and in metrics. */
  readonly id: 'semver' | 'digest' | 'newest' | 'alphabetical' | 'numerical' | 'replace';
  /** What is selected, for sentences: `the highest version in ">=1.2 <2"`. */
  readonly description: string;
  /** A note about a common misunderstanding, if there is one: shown beside the selection. */
  readonly note?: string;
  /** The one tag that is followed by its digest; other strategies choose among the repository's tags. */
  readonly mutableTag?: string;
  /** Whether nothing limits which versions are candidates. */
  readonly isUnbounded?: true;
  /** The one tag that may be replaced; absent: any. */
  readonly replaces?: string;
  /** Why the tag is not a candidate, as the end of a sentence; undefined if it is one. */
  reject(tag: string): string | undefined;
  /** Compares ranks: negative if `a` is older than `b`, 0 if neither is newer; both must be candidates. */
  compare(a: string, b: string): number;
  /** Compares the images of two tags by their age, also where these are no candidates: negative if `a` is older; undefined where that is not known. */
  compareAges?(a: string, b: string): number | undefined;
  /** The part of the tag that is compared, if that is not the whole tag; undefined if the tag has no such part. */
  partOf?(tag: string): string | undefined;
  /** The maximum cost of rejecting a tag or extracting its part, in steps of the policy's patterns; absent if it has none. */
  costOf?(tag: string): number;
  /** The same strategy with a cache of each tag's part: for one reconcile, which asks for each of them several times. */
  remembering?(): TagStrategy;
  /** For strategies that do not order by name: the same strategy with the creation time of each tag's image. */
  readonly withCreationTimes?: (created: CreationTimes) => TagStrategy;
}

/** When the image of a tag was created, according to its configuration: undefined if that does not say; absent if it was not read. */
export type CreationTimes = ReadonlyMap<string, Date | undefined>;

/** Ascending: the last in ascending order, the greatest, is selected. Descending: the smallest. */
export type Order = 'Ascending' | 'Descending';
