import type { SeenSet } from '../plan/outcome.ts';
import { maxListed, type IncompleteImage } from '../model/policy-status.ts';

/** The incomplete images after these were seen: those that are complete are removed, and the others keep the time when they were first seen so. */
export function nextIncomplete(old: readonly IncompleteImage[], seen: readonly SeenSet[] = []): readonly IncompleteImage[] {
  if (seen.length === 0) return old;
  const found = seen
    .filter(({ missing }) => missing.length > 0)
    .map((one): IncompleteImage => ({
      ...one,
      missing: [...one.missing],
      since: old.find((known) => isSame(known, one))?.since ?? one.since,
    }));
  const others = old.filter((known) => !seen.some((one) => isSame(known, one)));
  return [...found, ...others].toSorted((a, b) => (a.since < b.since ? 1 : -1)).slice(0, maxListed);
}

function isSame(a: SeenSet, b: SeenSet): boolean {
  return a.tag === b.tag && a.digest === b.digest;
}
