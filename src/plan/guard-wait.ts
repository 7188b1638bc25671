import type { UpdatePlan, Blocked } from './plan-update.ts';
import type { Waiting } from '../model/policy-status.ts';
import { toSeconds } from '../model/status-text.ts';
import { isSameImage, type PendingCandidate } from './waiting.ts';

/** The earliest time at which blocked changes of a plan may proceed; all of them are then evaluated again. `before`: the previous wait. */
export function guardWait({ candidate, targets }: UpdatePlan, before: Waiting | undefined, now: Date): PendingCandidate | undefined {
  const waits = targets.flatMap(({ blocked = [] }) => blocked.flatMap((one) => (one.kind === 'waits' ? [one] : [])));
  const [first] = waits.toSorted((a: Wait, b: Wait) => a.until.getTime() - b.until.getTime());
  if (first === undefined) return undefined;
  const { tag, digest } = candidate;
  // The age of an image keeps counting while it waits for something else.
  const since = before !== undefined && isSameImage(before, candidate) ? before.since : undefined;
  // Rounded up, so that the wait is over at that time.
  const until = new Date(Math.ceil(first.until.getTime() / 1_000) * 1_000);
  return { tag, ...(digest !== undefined && { digest }), since: since ?? toSeconds(now), until: toSeconds(until), reason: first.reason };
}

type Wait = Extract<Blocked, { readonly kind: 'waits' }>;
