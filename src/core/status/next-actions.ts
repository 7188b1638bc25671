import { imagesOfSet, wholeDigest } from '../model/companions.ts';
import { defined } from '../model/defined.ts';
import type { Candidate } from '../model/image-reference.ts';
import type { Outcome } from '../plan/outcome.ts';
import { maxListed, type PolicyStatus, type RejectedImage, type Reversion } from '../model/policy-status.ts';
import { maxLengths } from '../model/status-fields.ts';
import { rejectionTime } from '../model/release-holds.ts';
import { addRejection, findRejection, isRejectionOf, openRejection } from '../plan/rejections.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { nextRound } from '../plan/approvals.ts';
import { isReleased } from '../plan/guards/released.ts';
import { releaseTime } from '../model/policy-actions.ts';
import { cut, toTime } from '../model/text.ts';
import { isSameWorkload } from '../model/workload.ts';

/** An image with its digest, and that of its set if it has companions. */
export type Digested = Required<Pick<Candidate, 'tag' | 'digest'>> & Pick<Candidate, 'setDigest'>;

/** The requests of annotations that this reconcile answers. */
export interface Asked {
  /** The value of the annotation requested-at. */
  readonly request?: string;
  /** The value of the annotation rollback-to. */
  readonly rollback?: string;
}

/** The status with the fields that acknowledge the requests handled by this reconcile. */
export function withAnswers(status: PolicyStatus, { request, rollback }: Asked, outcome: Outcome): PolicyStatus {
  const asked = { ...status, ...(request !== undefined && { lastHandledRequest: cut(request, maxLengths.request) }) };
  if (rollback === undefined) return asked;
  const { lastRollbackProblem: _, ...others } = asked;
  const problem = rollbackProblem(outcome);
  return {
    ...others,
    lastHandledRollback: cut(rollback, maxLengths.request),
    ...(problem !== undefined && { lastRollbackProblem: cut(problem, maxLengths.message) }),
  };
}

/** Why a rollback changed nothing; undefined if it changed something, or if an earlier try of it did, after which everything runs the image. */
function rollbackProblem({ changes, reason, message }: Outcome): string | undefined {
  return changes !== undefined || reason === 'UpToDate' ? undefined : message;
}

/** The image that is pending approval after a reconcile of the selection. A newer one replaces it; an applied or no longer selected one is removed. */
export function withPendingApproval(status: PolicyStatus, { spec }: ImagePolicy, { selection, blocked = [] }: Outcome): PolicyStatus {
  if (selection === undefined) return status;
  const { pendingApproval: _, ...others } = status;
  const { tag, digest: own, companions } = selection.candidate;
  const digest = wholeDigest(selection.candidate);
  const isPending = blocked.some(({ reason }) => reason === 'ApprovalRequired');
  if (!isPending || digest === undefined) return others;
  const images =
    companions === undefined || own === undefined || !isUsable(spec) ? undefined : imagesOfSet(spec.repository, own, companions);
  return { ...others, pendingApproval: { tag, digest, ...defined({ images }) } };
}

/** The approvals of the selected image, for a policy that asks for several people. They end with the image, with a change of the policy, and when somebody rejects the image. */
export function withApprovals(status: PolicyStatus, policy: ImagePolicy, { selection, blocked = [] }: Outcome, now: Date): PolicyStatus {
  if (selection === undefined) return status;
  const { approvals: _, ...others } = status;
  const { spec } = policy;
  const { tag } = selection.candidate;
  const digest = wholeDigest(selection.candidate);
  if (!isUsable(spec) || digest === undefined || spec.mode !== 'Approval') return others;
  if (isRejectedByUser({ ...policy, status }, selection.candidate, now)) return others;
  const isPending = blocked.some(({ reason }) => reason === 'ApprovalRequired');
  return { ...others, ...defined({ approvals: nextRound({ ...policy, spec, status }, { tag, digest }, isPending, now) }) };
}

function isRejectedByUser({ status, actions }: ImagePolicy, image: Candidate, now: Date): boolean {
  const rejection = findRejection(status, image);
  return rejection?.reason === 'RejectedByUser' && !isReleased(new Date(rejection.at), actions, now);
}

/** Records that somebody rejected the selected image, as soon as that keeps it from a target. */
export function withRejection(status: PolicyStatus, policy: ImagePolicy, { selection, blocked = [] }: Outcome, now: Date): PolicyStatus {
  const open = selection && openRejection({ ...policy, status }, selection.candidate);
  if (open === undefined || !blocked.some(({ reason }) => reason === 'RejectedDigest')) return status;
  const { actions } = policy;
  const { rejected = [] } = status;
  const entry = { ...open, message: cut(open.message ?? '', maxLengths.message), at: toTime(rejectionTime(now, releaseTime(actions))) };
  return { ...status, rejected: addRejection(rejected, entry), ...defined({ lastHandledRejection: actions?.reject }) };
}

/** The changes that GitOps tools have reverted, the latest first: those that were applied again, and those that are not tried any more. */
export function nextReverted(old: readonly Reversion[], { reverted = [], changes = [] }: Outcome): readonly Reversion[] {
  const isAnswered = ({ container, ...place }: Reversion) =>
    changes.some((change) => change.container === container && isSameWorkload(change.workload, place));
  const found = reverted.filter((one) => one.count > 1 || isAnswered(one));
  const isKnown = (one: Reversion) => old.some((other) => isSameImage(one, other) && one.count === other.count && one.at === other.at);
  if (found.every(isKnown)) return old;
  return [...found, ...old.filter((one) => !found.some((other) => isSameImage(one, other)))].slice(0, maxListed);
}

/**
 * Records a rollback that begins: the image that is brought back, so that the request keeps its meaning in any later reconcile; and the images that a user
 * rolled back from, which are not applied again. If one had failed before, its message stays.
 */
export function withRollback(
  status: PolicyStatus,
  { rollback, left }: { readonly rollback: NonNullable<PolicyStatus['rollback']>; readonly left: readonly Digested[] },
  { now, released }: { now: Date; released: Date | undefined },
): PolicyStatus {
  const at = toTime(rejectionTime(now, released));
  const { rejected = [] } = status;
  const entries = left.map(({ tag, digest, setDigest }): RejectedImage => {
    const { message } = findRejection(status, { digest, ...defined({ setDigest }) }) ?? {};
    return { digest, ...defined({ setDigest }), tag, reason: 'RollbackRequested', ...defined({ message }), at };
  });
  const others = rejected.filter((one) => !entries.some((entry) => isRejectionOf(entry, one)));
  return { ...status, rollback, rejected: [...entries, ...others].slice(0, maxListed) };
}

function isSameImage(a: Reversion, b: Reversion): boolean {
  return isSameWorkload(a, b) && a.container === b.container && a.tag === b.tag && a.digest === b.digest;
}
