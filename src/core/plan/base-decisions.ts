/** What people decide about a base: whether it is approved, and whether somebody has rejected it. Pure. */
import type { ApprovalRound } from '../model/approval-round.ts';
import { type BaseImagePolicy, type BasePolicySpec, isUsableBase } from '../model/base-policy.ts';
import type { BaseStatus } from '../model/base-status.ts';
import { defined } from '../model/defined.ts';
import { isApproved, releaseTime } from '../model/policy-actions.ts';
import { type ApprovalCount, countApprovals, nextRound } from './approvals.ts';
import { isReleased } from './guards/released.ts';
import { addRejectedBase, rejectionOf, type RejectedBase } from './rejected-base.ts';
import { rejectionTime } from '../model/release-holds.ts';
import { openRejection } from './rejections.ts';

type Decided = BaseImagePolicy & { readonly spec: BasePolicySpec };
type Base = { readonly tag: string; readonly digest: string };

/** The approvals of a base; undefined if the policy does not ask for several people. */
export function countBaseApprovals({ spec, ...policy }: Decided, base: Base, now: Date): ApprovalCount | undefined {
  return countApprovals({ ...policy, spec: spec.base }, base, now);
}

/** Whether a base may be brought to its images. The annotation `approve`, which names nobody, has no effect if several people are asked. */
export function isBaseApproved(policy: Decided, base: Base, now: Date): boolean {
  if (policy.spec.base.mode !== 'Approval') return true;
  const count = countBaseApprovals(policy, base, now);
  return count === undefined ? isApproved(policy.actions, base) : count.isEnough;
}

/** The approvals of a base after a reconcile; undefined if the policy does not ask for several people. */
function nextBaseRound({ spec, ...policy }: Decided, base: Base, isPending: boolean, now: Date): ApprovalRound | undefined {
  return spec.base.mode === 'Approval' ? nextRound({ ...policy, spec: spec.base }, base, isPending, now) : undefined;
}

/** The approvals that the status has to show before a base is brought to images: there are enough of them, and it does not say so yet. */
export function newlyEnough(policy: Decided, base: Base, now: Date): ApprovalRound | undefined {
  const known = policy.status.approvals;
  const round = isBaseApproved(policy, base, now) ? nextBaseRound(policy, base, false, now) : undefined;
  const isKnown = round?.given?.every(({ user, at }) => known?.given?.some((one) => one.user === user && one.at === at)) ?? true;
  return isKnown ? undefined : round;
}

/** The rejection of a base by a user, also one that the status does not record yet; undefined if there is none, or it was released. */
export function userRejection(policy: BaseImagePolicy, base: Base, now: Date): RejectedBase | undefined {
  const known = rejectionOf(policy, base, now.getTime());
  if (known !== undefined) return known.reason === 'RejectedByUser' ? known : undefined;
  const open = openRejection(policy, base);
  const at = rejectionTime(now, releaseTime(policy.actions));
  return open && { digest: base.digest, tag: base.tag, reason: open.reason, message: open.message ?? 'rejected', at: at.toISOString() };
}

/** The parts of the status that people have decided, after a reconcile. `rejected`: the bases that are rejected already, also by their rollouts. */
export function nextDecisions(
  policy: BaseImagePolicy,
  base: Base,
  { isPending, rejected }: { readonly isPending: boolean; readonly rejected: readonly RejectedBase[] },
  now: Date,
): Pick<BaseStatus, 'approvals' | 'lastHandledRejection' | 'rejected'> {
  const { spec, actions } = policy;
  const byUser = userRejection(policy, base, now);
  const all = byUser === undefined ? rejected : addRejectedBase(rejected, byUser);
  const left = all.filter(({ at }) => !isReleased(new Date(at), actions, now));
  const isAnswered = openRejection(policy, base) !== undefined;
  // The approvals end when somebody rejects the base: after a release they do not count any more.
  const isRejected = left.some(({ digest, reason }) => digest === base.digest && reason === 'RejectedByUser');
  return {
    ...defined({ approvals: isUsableBase(spec) && !isRejected ? nextBaseRound({ ...policy, spec }, base, isPending, now) : undefined }),
    ...(isAnswered && defined({ lastHandledRejection: actions?.reject })),
    ...(left.length > 0 && { rejected: left }),
  };
}
