/**
 * The one order by which pushes, polls and everything else select. Tags are compared by their rank in the strategy. Several may have the same rank (`1.3.0` and
 * `v1.3.0`, or two builds of a version whose date `tags.extract` leaves out): the later name is newer then, with numbers compared as numbers. Only a push
 * replaces a tag with an equal one; a poll prefers the known tag, because it must not revert the result of a push.
 */
import type { Candidate } from '../model/image-reference.ts';
import type { PolicySpec } from '../model/image-policy.ts';
import type { TagStrategy } from '../model/tag-strategy.ts';

/** Compares two candidates of the strategy: negative when `a` comes before `b`, 0 only for the same tag. */
export function compareTags(strategy: TagStrategy, a: string, b: string): number {
  return strategy.compare(a, b) || compareNames(a, b);
}

/** Compares names. Versions are last, and names without a number, which are mutable (`latest`), are first. */
function compareNames(a: string, b: string): number {
  return specificity(a) - specificity(b) || naturalOrder(a, b);
}

function specificity(tag: string): number {
  if (/^v?[0-9]/.test(tag)) return 2;
  return /[0-9]/.test(tag) ? 1 : 0;
}

/**
 * Whether a candidate is newer than an image that runs or was selected, even if the policy would no longer select that image. The same tag is newer with
 * another digest, and an equal-ranking tag only if it is another image.
 */
export function isNewerImage(candidate: Candidate, than: Candidate, { strategy }: Pick<PolicySpec, 'strategy'>): boolean {
  if (strategy.reject(than.tag) !== undefined) return true;
  const rank = strategy.compare(candidate.tag, than.tag);
  if (rank !== 0) return rank > 0;
  const areKnown = candidate.digest !== undefined && than.digest !== undefined;
  if (candidate.tag === than.tag) return areKnown && candidate.digest !== than.digest;
  return compareTags(strategy, candidate.tag, than.tag) > 0 && !(areKnown && candidate.digest === than.digest);
}

/** The candidate of the highest rank, or undefined if no tag is one. Among equal ranks a known tag wins, then the last by name. */
export function selectTag(strategy: TagStrategy, tags: Iterable<string>, known: ReadonlySet<string> = new Set()): string | undefined {
  let best: string | undefined;
  for (const tag of tags) {
    if (strategy.reject(tag) !== undefined) continue;
    if (best === undefined || prefer(strategy, tag, best, known) > 0) best = tag;
  }
  return best;
}

function prefer(strategy: TagStrategy, a: string, b: string, known: ReadonlySet<string>): number {
  return strategy.compare(a, b) || Number(known.has(a)) - Number(known.has(b)) || compareNames(a, b);
}

const collator = new Intl.Collator('en', { numeric: true });

/** Compares numbers in a text as numbers: `build-9` before `build-10`. It is a guess at the newer one, used if nothing better is known. */
export function naturalOrder(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}
