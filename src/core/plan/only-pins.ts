import { tryParseImageReference } from '../model/image-reference.ts';
import type { UpdatePlan } from './plan-update.ts';

/** Whether all that a plan changes is that images are named by the digest of the tag that they name now. */
export function onlyPins({ candidate, targets }: UpdatePlan): boolean {
  const all = targets.flatMap(({ changes, blocked = [] }) => [...changes, ...blocked.flatMap((one) => one.changes)]);
  return all.every(({ from, alongside = [] }) => {
    const running = tryParseImageReference(from);
    return alongside.length === 0 && running?.digest === undefined && running?.tag === candidate.tag;
  });
}
