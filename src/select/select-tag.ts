/**
 * The one order by which pushes, polls and everything else choose. Tags are compared by the rank that the strategy gives them. Several may rank equal (`1.3.0` and
 * `v1.3.0`, two builds of a version whose date `tags.extract` leaves out): of those the later one by name is newer, with numbers compared as numbers. Only a push
 * brings it in the place of an equal one; a poll prefers what is known, or it would turn back what a push has brought.
 */
import type { Candidate } from '../model/image-reference.ts';
import type { PolicySpec } from '../model/image-policy.ts';
import { naturalOrder } from './natural-order.ts';
import type { TagStrategy } from '../model/tag-strategy.ts';

/** Negative when `a` comes before `b`, 0 only for the same tag; both must be candidates of the strategy. */
export function compareTags(strategy: TagStrategy, a: string, b: string): number {
  return strategy.compare(a, b) || compareNames(a, b);
}

/** Versions come last, and names without a number, which move (`latest`), first. */
function compareNames(a: string, b: string): number {
  return specificity(a) - specificity(b) || naturalOrder(a, b);
}

function specificity(tag: string): number {
  if (/^v?[0-9]/.test(tag)) return 2;
  return /[0-9]/.test(tag) ? 1 : 0;
}

/**
 * Whether a candidate is newer than an image that runs or was selected; also when the policy would not select that one any more. The same tag is newer with
 * another digest, and an equal one only as another image.
 */
export function isNewerImage(candidate: Candidate, than: Candidate, { strategy }: Pick<PolicySpec, 'strategy'>): boolean {
  if (strategy.reject(than.tag) !== undefined) return true;
  const rank = strategy.compare(candidate.tag, than.tag);
  if (rank !== 0) return rank > 0;
  const areKnown = candidate.digest !== undefined && than.digest !== undefined;
  if (candidate.tag === than.tag) return areKnown && candidate.digest !== than.digest;
  return compareTags(strategy, candidate.tag, than.tag) > 0 && !(areKnown && candidate.digest === than.digest);
}

/** The candidate of the highest rank, or undefined when no tag is one. Of those that rank equal a known one wins, then the last by name. */
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
