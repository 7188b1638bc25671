import { wholeDigest } from '../../model/companions.ts';
import { defined } from '../../model/defined.ts';
import { actionAnnotations } from '../../model/policy-actions.ts';
import type { RejectedImage } from '../../model/policy-status.ts';
import { tryParseImageReference } from '../../model/image-reference.ts';
import { lastUpdateOf, type LastUpdate } from '../../model/last-update.ts';
import { formatWorkload, isSameWorkload } from '../../model/workload.ts';
import type { TargetPlan } from '../plan-update.ts';
import { describeRejection, isDecision, isRejectionOf, openRejection } from '../rejections.ts';
import type { Guard, GuardContext, GuardDecision } from './guard.ts';
import { isNewerImage } from '../../select/select-tag.ts';
import { holdDecision, isReleased } from './released.ts';

/** Refuses an image whose rollout failed, that was rolled back from, or that somebody rejected. */
export const rejected: Guard = {
  id: 'rejected',
  bindsRollback: false,
  check(target, context) {
    const { candidate, policy, now } = context;
    const open = openRejection(policy, candidate);
    // The status has recorded every earlier rejection, so no release can be about this one.
    if (open !== undefined) return { kind: 'blocked', reason: 'RejectedDigest', message: hinted(describeRejection(open)) };
    const entry = policy.status?.rejected?.find((one) => isAbout(one, context) && !isReleased(new Date(one.at), policy.actions, now));
    if (entry === undefined) return rolledBackHere(target, context);
    const isSame = candidate.digest === entry.digest;
    const left = `${candidate.tag} ${isSame ? 'was rolled back' : `is not newer than ${entry.tag ?? entry.digest}, which was rolled back`}. Push something newer`;
    const message = hinted(entry.reason === 'RollbackRequested' ? left : describeRejection(entry));
    const decision = holdDecision({ reason: 'RejectedDigest', message }, policy.actions, now);
    // After a decision of a user there is nothing to fix. After a failed rollout, the user must act.
    return isDecision(entry) || decision.kind === 'waits' ? decision : { ...decision, kind: 'refused' };
  },
};

function hinted(message: string): string {
  return `${message}, or release it: annotation ${actionAnnotations.release}: "<time>"`;
}

/**
 * Whether a workload records a rollback from the candidate. The record protects the rollback from a process that does not know the policy's rejection yet. An
 * image that is tried again because it did not cause the failure is not rejected.
 */
function rolledBackHere({ target, workload, changes }: TargetPlan, context: GuardContext): GuardDecision | undefined {
  const { candidate, policy, now } = context;
  const left = changes.filter(({ container }) => {
    const update = workload && lastUpdateOf(workload, container);
    if (update?.trigger !== 'Rollback' || update.policy !== policy.uid || update.retry !== undefined) return false;
    const isKnown = policy.status?.history?.some(
      (one) => one.at === update.at && one.container === container && isSameWorkload(one, target),
    );
    return isKnown !== true && leavesImage(update, context) && !isReleased(new Date(update.at), policy.actions, now);
  });
  if (left.length === 0) return undefined;
  const containers = left.map(({ container }) => container);
  const message = `${candidate.tag} was rolled back on ${formatWorkload(target)}. Push something newer, or release it: annotation ${actionAnnotations.release}: "<time>"`;
  return holdDecision({ reason: 'RejectedDigest', message, containers }, policy.actions, now);
}

/** Whether a rollback left the candidate: the image whose rollout failed or, if a user requested it, one that is not newer than the image that ran. */
function leavesImage({ failed, left, from }: LastUpdate, { candidate, spec }: GuardContext): boolean {
  if (failed !== undefined) return failed === wholeDigest(candidate);
  if (left !== undefined && left === wholeDigest(candidate)) return true;
  const { tag, digest } = tryParseImageReference(from) ?? {};
  if (tag === undefined) return false;
  const isSame = digest !== undefined && digest === candidate.digest;
  return isSame || !isNewerImage(candidate, { tag, ...defined({ digest }) }, spec);
}

/** Whether a rejection applies to the candidate. After a requested rollback it also applies to versions in between. */
function isAbout(image: RejectedImage, { candidate, spec }: GuardContext): boolean {
  if (isRejectionOf(image, candidate)) return true;
  const { digest, tag, reason } = image;
  // With another companion, the same image is another set.
  if (candidate.digest === digest) return false;
  return reason === 'RollbackRequested' && tag !== undefined && !isNewerImage(candidate, { tag, digest }, spec);
}
