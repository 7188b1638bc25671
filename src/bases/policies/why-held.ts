/** Why a child of a BaseImagePolicy must not do anything now. Pure. */
import { isUsableBase, type BaseImagePolicy, type BasePolicySpec } from '../../core/model/base-policy.ts';
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import { isBaseApproved, userRejection } from '../../core/plan/base-decisions.ts';
import { parseApproval } from '../../core/model/policy-actions.ts';
import type { Workload, WorkloadRef } from '../../core/model/workload.ts';
import { actionFor } from './action-for.ts';
import { hasOtherWindows } from './child-policies.ts';
import { selectsWorkload, type NamespaceMatches } from './selects-workload.ts';

/** What is known about workloads and their namespaces. */
export interface HeldView {
  readonly findWorkload: (ref: WorkloadRef) => Workload | undefined;
  readonly namespaceMatches: NamespaceMatches;
  readonly now: () => Date;
}

/**
 * Why a child must not act; undefined if nothing holds it, or if it has no parent. A child does only what its current parent wants, because the reconcile of
 * the parent comes seconds later and may delete the child. `parent` is the policy that has the parent's name now.
 */
export function whyHeld(child: ImagePolicy, parent: BaseImagePolicy | undefined, view: HeldView): string | undefined {
  if (child.parent === undefined || !isUsable(child.spec)) return undefined;
  const { name, uid, base } = child.parent;
  const its = `its BaseImagePolicy ${child.namespace}/${name}`;
  if (parent?.uid !== uid) return `${its} does not exist`;
  if (parent.isDeleting === true) return `${its} is being deleted`;
  const { spec, namespace } = parent;
  if (!isUsableBase(spec)) return spec.suspended === true ? `${its} is suspended` : `${its} cannot be used: ${spec.problem.message}`;
  if (spec.base.suspended) return `${its} is suspended`;
  if (spec.base.mode === 'DryRun') return `${its} has mode: DryRun`;
  const decided = whyUndecided({ ...parent, spec }, base ?? '', view.now());
  if (decided !== undefined) return `${its} ${decided}`;
  if (actionFor({ source: child.spec.repository }, spec.onNewBase).kind !== 'rebase') return `${its} does not rebase this image any more`;
  // A rollout that has begun is not held by a window.
  const hasBegun = child.status.running !== undefined && child.status.running === child.spec.strategy.mutableTag;
  if (!hasBegun && hasOtherWindows(child, spec.base)) return `${its} has other windows by now`;
  const isDropped = child.spec.targets.some((target) => {
    const workload = target.name === undefined ? undefined : view.findWorkload(target);
    return workload !== undefined && !selectsWorkload({ namespace, spec }, workload, view.namespaceMatches);
  });
  return isDropped ? `${its} does not select this workload any more` : undefined;
}

/** What people have decided, or not, about the base of a child; undefined if it may be rolled out. The tag of the base is that of the decision. */
function whyUndecided(parent: BaseImagePolicy & { readonly spec: BasePolicySpec }, digest: string, now: Date): string | undefined {
  const { spec, status, actions } = parent;
  if (userRejection(parent, { tag: status.latest?.tag ?? '', digest }, now) !== undefined) return 'has a base that somebody rejected';
  const approved = spec.base.approvals === undefined ? parseApproval(actions?.approve) : status.approvals;
  return isBaseApproved(parent, { tag: approved?.tag ?? '', digest }, now) ? undefined : 'waits for the approval of its base';
}
