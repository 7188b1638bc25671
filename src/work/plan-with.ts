import type { Consent } from '../core/consent.ts';
import { guardPlan, type GuardContext } from '../core/guard-plan.ts';
import type { ImagePolicy, PolicySpec, PolicyTarget } from '../core/image-policy.ts';
import type { RegistryAliases } from '../core/image-reference.ts';
import { planUpdate, type Candidate, type TargetProblem, type UpdatePlan } from '../core/plan-update.ts';
import type { WorkloadView } from '../core/resolve-target.ts';

/** Of a target's kind: not listed yet · known since that time · or why it cannot be known. */
export type TargetState = 'starting' | { readonly since: number } | { readonly problem: TargetProblem };

/** What the caches know of the cluster's workloads. */
export interface PlanPorts extends WorkloadView {
  readonly targetState: (target: PolicyTarget) => TargetState;
  readonly aliases: RegistryAliases;
  readonly crossNamespace: GuardContext['crossNamespace'];
}

/**
 * The plan for a candidate with what the caches know; costs no request. Without consents, those that are needed are not judged yet. Throws where a kind has
 * not been listed yet: what is not known must not be taken for what is not there.
 */
export function planWith(
  policy: ImagePolicy,
  spec: PolicySpec,
  candidate: Candidate,
  { findWorkload, listWorkloads, targetState, aliases, crossNamespace }: PlanPorts,
  consents?: ReadonlyMap<string, Consent>,
): UpdatePlan {
  const { history = [], lastAppliedTag } = policy.status;
  const hasApplied = history.length > 0 || lastAppliedTag !== undefined;
  const kindProblem = (target: PolicyTarget) => {
    const state = targetState(target);
    if (state === 'starting') throw new Error(`the workloads of kind ${target.kind} have not been listed yet`);
    return 'problem' in state ? state.problem : undefined;
  };
  const plan = planUpdate({ spec, candidate, hasApplied, aliases, kindProblem, findWorkload, listWorkloads });
  return guardPlan(plan, { policy, crossNamespace, ...(consents !== undefined && { consents }) });
}
