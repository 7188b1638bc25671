import { isUsable, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { openRollback } from '../../../core/plan/rollback.ts';
import { endedRound, unseenApprovals } from '../../../core/plan/approvals.ts';
import { type PolicyActions, parseApproval, parseRejection, releaseTime } from '../../../core/model/policy-actions.ts';
import { holdOf, isHoldingWait } from '../../../core/model/release-holds.ts';
import { requestCause, type PolicyJob } from '../../queue/jobs.ts';

type ActionJob = Pick<PolicyJob, 'source' | 'cause' | 'hint' | 'actions'>;

/**
 * The job for a user's request in an annotation that is not answered, or undefined. Annotations do not increase the generation, so the job carries them: a
 * worker must not reconcile a policy that does not show them yet.
 */
export function actionJob({ actions = {}, spec, status }: ImagePolicy): ActionJob | undefined {
  const { approve, reject, release, requestedAt } = actions;
  // A suspended policy does nothing, and the answer to its request says so.
  const isActive = isUsable(spec) && !spec.suspended;
  // The cause includes the previous rollback, because a user may ask for the same one again after another.
  const rollbackTo = openRollback({ actions, spec, status });
  if (rollbackTo !== undefined) return { source: 'Rollback', cause: `rollback:${rollbackTo}:${status.lastHandledRollback ?? ''}`, actions };
  if (requestedAt !== undefined && requestedAt !== status.lastHandledRequest)
    return { source: 'Request', cause: requestCause(requestedAt), actions };
  const rejected = isActive && reject !== status.lastHandledRejection ? rejectionJob(reject, status) : undefined;
  if (rejected !== undefined) return { ...rejected, actions };
  const many = isActive && spec.approvals !== undefined ? approvalsJob(actions, status) : undefined;
  if (many !== undefined) return { ...many, actions };
  if (
    approve !== undefined &&
    (isActive ? spec.mode === 'Approval' && spec.approvals === undefined : isAnsweredUnusable(approve, { spec, status }))
  ) {
    const job = approvalJob(approve, status);
    if (job !== undefined) return { ...job, actions };
  }
  const released = releaseTime(actions);
  const mayRelease = isActive && released !== undefined && mayEnd(status, released);
  // The cause includes the end of the present wait, because a user may set a time, remove it, and set it again.
  return mayRelease ? { source: 'Request', cause: `release:${release}:${status.waiting?.until ?? ''}`, actions } : undefined;
}

/** The job for a rejection that names what waits. The rejection of anything else counts when that is selected. */
function rejectionJob(reject: string | undefined, { pendingApproval, waiting }: ImagePolicy['status']): ActionJob | undefined {
  const { tag, digest } = parseRejection(reject) ?? {};
  const isWaiting = [pendingApproval, waiting].some((image) => digest !== undefined && image?.tag === tag && image?.digest === digest);
  return tag === undefined || digest === undefined || !isWaiting
    ? undefined
    : { source: 'Request', cause: `reject:${reject}`, hint: { tag, digest } };
}

/** The job for approvals of several people that the status does not show as they are. */
function approvalsJob(actions: PolicyActions, status: ImagePolicy['status']): ActionJob | undefined {
  const cause = unseenApprovals(actions, status);
  return cause === undefined || status.approvals === undefined ? undefined : { source: 'Approval', cause, hint: imageOf(status.approvals) };
}

/** The job for a policy whose status shows an approval that has ended since. */
export function endedApprovalJob({ spec, status }: ImagePolicy, now: Date): ActionJob | undefined {
  const cause = endedRound(status, now);
  if (cause === undefined || status.approvals === undefined || !isUsable(spec) || spec.suspended) return undefined;
  return { source: 'WaitOver', cause, hint: imageOf(status.approvals) };
}

function imageOf({ tag, digest }: NonNullable<ImagePolicy['status']['approvals']>): NonNullable<ActionJob['hint']> {
  return { tag, digest };
}

/** Whether a policy that cannot be used still says that the image waits that was approved since. */
function isAnsweredUnusable(
  approve: string,
  { spec, status: { pendingApproval, conditions = [] } }: Pick<ImagePolicy, 'spec' | 'status'>,
): boolean {
  const { tag, digest } = parseApproval(approve) ?? {};
  const isPending = pendingApproval !== undefined && pendingApproval.tag === tag && pendingApproval.digest === digest;
  return !isUsable(spec) && isPending && conditions.some(({ type }) => type === 'ApprovalRequired');
}

/** The job for an approval that names the pending change, or that names another change and has not been answered. */
function approvalJob(approve: string, { pendingApproval, conditions = [] }: ImagePolicy['status']): ActionJob | undefined {
  if (pendingApproval === undefined) return undefined;
  const { tag, digest } = pendingApproval;
  const approved = parseApproval(approve);
  if (approved?.tag === tag && approved.digest === digest)
    return { source: 'Approval', cause: `approve:${tag}@${digest}`, hint: { tag, digest } };
  const reported = conditions.find(({ type }) => type === 'ApprovalRequired')?.message;
  if (reported?.includes(approve.slice(0, 200)) === true) return undefined;
  return { source: 'Approval', cause: `approve:${approve}:${digest}`, hint: { tag, digest } };
}

/** Whether a release could end a wait, now or at the time in its annotation. For a later time, the reconcile enqueues a delayed job. */
function mayEnd(status: ImagePolicy['status'], released: Date): boolean {
  const { waiting } = status;
  // The wait has its own delayed job, unless the release now names another time.
  if (waiting !== undefined && isHoldingWait(status)) return Math.abs(Date.parse(waiting.until) - released.getTime()) >= 1_000;
  return holdOf(status, released) !== undefined;
}
