/** Why a child of a BaseImagePolicy must not do anything now. Pure. */
import { isUsableBase, type BaseImagePolicy } from '../../core/model/base-policy.ts';
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import { parseApproval } from '../../core/model/policy-actions.ts';
import type { Workload, WorkloadRef } from '../../core/model/workload.ts';
import { actionFor } from './action-for.ts';
import { hasOtherWindows } from './child-policies.ts';
import { selectsWorkload, type NamespaceMatches } from './selects-workload.ts';

/** What is known about workloads and their namespaces. */
export interface HeldView {
  readonly findWorkload: (ref: WorkloadRef) => Workload | undefined;
  readonly namespaceMatches: NamespaceMatches;
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
  if (spec.base.mode === 'Approval' && parseApproval(parent.actions?.approve)?.digest !== base)
    return `${its} waits for the approval of its base`;
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
