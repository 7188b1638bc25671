import { actionAnnotations } from '../../model/policy-actions.ts';
import type { RejectedImage } from '../../model/policy-status.ts';
import { describeRejection } from '../rejections.ts';
import type { Guard, GuardContext } from './guard.ts';
import { isNewerImage } from '../../select/select-tag.ts';
import { holdDecision, isReleased } from './released.ts';

/** An image whose rollout failed, or that was rolled back from, is not applied again. */
export const rejected: Guard = {
  id: 'rejected',
  bindsRollback: false,
  check(_, context) {
    const { candidate, policy, now } = context;
    const entry = policy.status?.rejected?.find((one) => isAbout(one, context) && !isReleased(new Date(one.at), policy.actions, now));
    if (entry === undefined) return undefined;
    const wasLeft = entry.reason === 'RollbackRequested';
    const isSame = candidate.digest === entry.digest;
    const left = `${candidate.tag} ${isSame ? 'was rolled back' : `is not newer than ${entry.tag ?? entry.digest}, which was rolled back`}. Push something newer`;
    const hint = `, or release it: annotation ${actionAnnotations.release}: "<time>"`;
    const message = (wasLeft ? left : describeRejection(entry)) + hint;
    const decision = holdDecision({ reason: 'RejectedDigest', message }, policy.actions, now);
    // A rollback on request leaves nothing to fix; a failed rollout is for the user to fix.
    return wasLeft || decision.kind === 'waits' ? decision : { ...decision, kind: 'refused' };
  },
};

/** A user who rolled back does not want the versions in between, either. */
function isAbout({ digest, tag, reason }: RejectedImage, { candidate, spec }: GuardContext): boolean {
  if (candidate.digest === digest) return true;
  return reason === 'RollbackRequested' && tag !== undefined && !isNewerImage(candidate, { tag, digest }, spec);
}
