/** Merges two lists that are read page by page, newest first, into one. Pure. */

/** An entry with its time in ms since 1970, and the position after it in its own list. */
export interface Placed<T> {
  readonly at: number;
  readonly position: string;
  readonly entry: T;
}

/** A page of one list. `next`: where to read on, and the time up to which all entries are known; absent if there is nothing more. */
export interface SourcePage<T> {
  readonly placed: readonly Placed<T>[];
  readonly next?: { readonly at: number; readonly position: string };
}

export interface MergedPage<T> {
  readonly entries: readonly T[];
  /** The position at which each list goes on; undefined for a list that is at its end. */
  readonly next: readonly (string | undefined)[];
}

/** The mark of a list of which nothing was taken yet. */
export const fromStart = '';

/**
 * The first `limit` entries of all pages, newest first. An entry is only taken where every list is known up to its time: a list of which only a part was read may have
 * further entries in between. `from`: where the pages began.
 */
export function mergePages<T>(pages: readonly SourcePage<T>[], from: readonly (string | undefined)[], limit: number): MergedPage<T> {
  const horizon = Math.max(...pages.map(({ next }) => next?.at ?? -Infinity));
  const all = pages.flatMap(({ placed }, source) => placed.map((one) => ({ ...one, source })));
  const taken = all
    .filter(({ at }) => at >= horizon)
    .sort((a, b) => b.at - a.at)
    .slice(0, limit);
  const next = pages.map(({ placed, next: rest }, source) => {
    const own = taken.filter((one) => one.source === source);
    // A list of which everything was taken goes on where its page ended.
    if (own.length === placed.length) return rest?.position;
    return own.at(-1)?.position ?? from[source] ?? fromStart;
  });
  return { entries: taken.map(({ entry }) => entry), next };
}
