/**
 * How a policy chooses among tags. Validated when built, never throws when used. Every strategy is one file with a factory;
 * the tag that wins is the greatest candidate by `compare`, and which one of several that rank equal: see select-tag.ts. Which tags it is asked about is not
 * its business: see filter-tags.ts.
 */
export interface TagStrategy {
  /** The one id: in the file name, in messages and in metrics. */
  readonly id: 'semver' | 'digest' | 'newest' | 'alphabetical' | 'numerical';
  /** What is selected, for sentences: `the highest version in ">=1.2 <2"`. */
  readonly description: string;
  /** What a user may take for something else, where there is such a thing: it is shown beside what is selected. */
  readonly note?: string;
  /** The one tag that is followed by its digest; other strategies choose among the repository's tags. */
  readonly mutableTag?: string;
  /** Why the tag is no candidate, as the end of a sentence; undefined when it is one. */
  reject(tag: string): string | undefined;
  /** The rank: negative when `a` is older than `b`, 0 when neither is newer; both must be candidates. */
  compare(a: string, b: string): number;
  /** The part of the tag that is compared, where it is not the whole tag; undefined where the tag has no such part. */
  partOf?(tag: string): string | undefined;
  /** What it costs at most to reject a tag or take its part, in steps of the policy's patterns; absent where it has none. */
  costOf?(tag: string): number;
  /** The same strategy, which remembers the part of every tag that it is asked about: for one reconcile, which asks about each of them several times. */
  remembering?(): TagStrategy;
  /** Where the order is not in the names: the same strategy, told when the image of each tag was created. */
  readonly knowing?: (created: CreationTimes) => TagStrategy;
}

/** When the image of a tag was created, by its own word: undefined where it does not say; absent where nobody looked. */
export type CreationTimes = ReadonlyMap<string, Date | undefined>;

/** Ascending: the last one in ascending order wins, which is the greatest. Descending: the smallest. */
export type Order = 'Ascending' | 'Descending';
