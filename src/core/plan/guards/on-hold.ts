import { actionAnnotations } from '../../model/policy-actions.ts';
import { describeHold, holdAnnotation } from '../../model/named-hold.ts';
import { holdOn } from '../../model/promotion.ts';
import type { Guard } from './guard.ts';
import { holdDecision } from './released.ts';

/** Keeps what runs while somebody holds the policy, until a release, or until exactly this image is promoted. */
export const onHold: Guard = {
  id: 'on-hold',
  bindsRollback: false,
  check(_, { candidate, policy: { actions }, now }) {
    const hold = holdOn(candidate, actions, now);
    if (hold === undefined) return undefined;
    const [{ tag }, what, reason] = [candidate, describeHold(hold), 'OnHold' as const];
    // A release cannot be later than a hold of which nobody knows when it began.
    if (hold.at === undefined) {
      const message = `${tag} is not applied, because the policy is on hold (${what}). The annotation ${holdAnnotation} does not begin with a time such as 2026-01-31T12:00:00Z: remove it to end the hold`;
      return { kind: 'blocked', reason, message };
    }
    const message = `${tag} is not applied, because the policy is on hold (${what}). It is applied when it is promoted, or when the hold is released: annotation ${actionAnnotations.release}: "<time>"`;
    return holdDecision({ reason, message }, actions, now);
  },
};
