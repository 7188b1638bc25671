import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import type { Reason } from '../model/reasons.ts';
import { parseApproval, releaseTime } from '../model/policy-actions.ts';
import { requestCause, type PolicyJob } from '../queue/jobs.ts';

type ActionJob = Pick<PolicyJob, 'source' | 'cause' | 'hint' | 'actions'>;

/**
 * What a user asks of a policy and nobody has answered yet, or undefined. Annotations do not count up the generation, so the job carries them: whoever takes
 * it must not look at a policy without them.
 */
export function actionJob({ actions, spec, status }: ImagePolicy): ActionJob | undefined {
  if (actions === undefined) return undefined;
  const { approve, rollbackTo, release, requestedAt } = actions;
  // Nothing is done for a suspended policy; its request is answered with that.
  const isActive = isUsable(spec) && !spec.suspended;
  // With the one before: the same may be asked for again after another one.
  if (isActive && rollbackTo !== undefined && rollbackTo !== status.lastHandledRollback)
    return { source: 'Rollback', cause: `rollback:${rollbackTo}:${status.lastHandledRollback ?? ''}`, actions };
  if (requestedAt !== undefined && requestedAt !== status.lastHandledRequest)
    return { source: 'Request', cause: requestCause(requestedAt), actions };
  if (isActive && spec.mode === 'Approval' && approve !== undefined) {
    const job = approvalJob(approve, status);
    if (job !== undefined) return { ...job, actions };
  }
  const released = releaseTime(actions);
  const mayRelease = isActive && released !== undefined && mayEnd(status, released);
  // With what it waits for now: the same time may be said, taken back, and said again.
  return mayRelease ? { source: 'Request', cause: `release:${release}:${status.waiting?.until ?? ''}`, actions } : undefined;
}

/** It names what is pending; or it does not, and nobody has told so yet. */
function approvalJob(approve: string, { pendingApproval, conditions = [] }: ImagePolicy['status']): ActionJob | undefined {
  if (pendingApproval === undefined) return undefined;
  const { tag, digest } = pendingApproval;
  const approved = parseApproval(approve);
  if (approved?.tag === tag && approved.digest === digest)
    return { source: 'Approval', cause: `approve:${tag}@${digest}`, hint: { tag, digest } };
  const told = conditions.find(({ type }) => type === 'ApprovalRequired')?.message;
  if (told?.includes(approve.slice(0, 200)) === true) return undefined;
  return { source: 'Approval', cause: `approve:${approve}:${digest}`, hint: { tag, digest } };
}

const holdReasons: ReadonlySet<string> = new Set<Reason>(['Held', 'RejectedDigest', 'ChangeReverted']);

/** Whether there is something that a release could end, now or at the time that it names: the look sets the alarm for that. */
function mayEnd({ waiting, conditions = [] }: ImagePolicy['status'], released: Date): boolean {
  // It has its alarm, unless the release is for another time by now.
  if (waiting !== undefined && holdReasons.has(waiting.reason)) return Math.abs(Date.parse(waiting.until) - released.getTime()) >= 1_000;
  return conditions.some(({ type, reason, status }) => {
    const isHold = type === 'Held' || (type === 'Stalled' && holdReasons.has(reason));
    return status === 'True' && isHold;
  });
}
