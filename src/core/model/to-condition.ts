import type { Condition } from './policy-status.ts';
import { maxLengths } from './status-fields.ts';
import { cut, toSeconds } from './text.ts';

/** The condition that a state becomes in a status. It keeps its time of `old`, the conditions before, while it stays true or false; its message is cut to fit. */
export function toCondition(
  { type, status, reason, message }: Pick<Condition, 'type' | 'status' | 'reason' | 'message'>,
  old: readonly Condition[],
  generation: number,
  now: Date,
): Condition {
  const before = old.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : toSeconds(now);
  return { type, status, reason, message: cut(message, maxLengths.message), lastTransitionTime, observedGeneration: generation };
}
