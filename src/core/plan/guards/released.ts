import type { GuardReason } from '../../model/guard-reasons.ts';
import { releaseTime, type PolicyActions } from '../../model/policy-actions.ts';
import { toSeconds } from '../../model/text.ts';
import type { WaitReason } from '../wait-reasons.ts';
import type { GuardDecision } from './guard.ts';

/**
 * Whether a hold that began at a given time has been released. A release covers all holds up to its time. If that time is in the future, the hold ends then.
 */
export function isReleased(since: Date | undefined, actions: PolicyActions | undefined, now: Date): boolean {
  const released = releaseTime(actions);
  if (released === undefined || released > now) return false;
  return since === undefined || released >= since;
}

/** The decision to hold a change. It waits if a release with a future time is set. */
export function holdDecision(
  hold: Pick<GuardDecision, 'message' | 'containers'> & { readonly reason: GuardReason & WaitReason },
  actions: PolicyActions | undefined,
  now: Date,
): GuardDecision {
  const released = releaseTime(actions);
  if (released !== undefined && released > now)
    return { ...hold, kind: 'waits', until: released, message: `${hold.message}; released at ${toSeconds(released)}` };
  if (actions?.release === undefined || released !== undefined) return { ...hold, kind: 'blocked' };
  return { ...hold, kind: 'blocked', message: `${hold.message} ("${actions.release}" is no time such as 2026-01-31T12:00:00Z)` };
}
