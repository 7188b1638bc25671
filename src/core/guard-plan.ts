import type { TargetPlan, UpdatePlan } from './plan-update.ts';
import type { ImagePolicy } from './image-policy.ts';
import type { Reason } from './reasons.ts';
import { formatWorkload } from './workload.ts';

export interface GuardContext {
  readonly policy: ImagePolicy;
  readonly crossNamespace: 'deny' | 'consent' | 'allow';
}

/** Why a target must not be changed, or undefined. */
type Guard = (target: TargetPlan, context: GuardContext) => { reason: Reason; message: string } | undefined;

/** The list of guards, in the order in which a user would want to hear of them. */
const guards: readonly Guard[] = [crossNamespaceIsAllowed];

/** Narrows a plan: what a guard refuses becomes the target's problem, with the guard's reason, and nothing of it is changed. */
export function guardPlan(plan: UpdatePlan, context: GuardContext): UpdatePlan {
  return { ...plan, targets: plan.targets.map((target) => guardTarget(target, context)) };
}

function guardTarget(target: TargetPlan, context: GuardContext): TargetPlan {
  if (target.changes.length === 0) return target;
  for (const guard of guards) {
    const problem = guard(target, context);
    if (problem !== undefined) return { ...target, changes: [], problem };
  }
  return target;
}

/** Policies written as v1alpha1 keep their cross-namespace targets without consent (they worked before), unless all are denied. */
function crossNamespaceIsAllowed({ target }: TargetPlan, { policy, crossNamespace }: GuardContext): ReturnType<Guard> {
  if (target.namespace === policy.namespace || crossNamespace !== 'deny') return undefined;
  const message = `${formatWorkload(target)} is in another namespace than the policy, and the configuration says crossNamespace: deny`;
  return { reason: 'CrossNamespaceDenied', message };
}
