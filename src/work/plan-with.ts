import type { Consent } from '../core/consent.ts';
import { guardPlan, type GuardContext } from '../core/guard-plan.ts';
import type { ImagePolicy, PolicySpec } from '../core/image-policy.ts';
import type { RegistryAliases } from '../core/image-reference.ts';
import { planUpdate, type Candidate, type UpdatePlan } from '../core/plan-update.ts';
import type { Workload, WorkloadRef } from '../core/workload.ts';

export interface PlanPorts {
  /** The workload as the cache knows it. */
  readonly findWorkload: (ref: WorkloadRef) => Workload | undefined;
  readonly aliases: RegistryAliases;
  readonly supportedKinds: ReadonlySet<string>;
  readonly crossNamespace: GuardContext['crossNamespace'];
}

/** The plan for a candidate with what the caches know; costs no request. Without consents, those that are needed are not judged yet. */
export function planWith(
  policy: ImagePolicy,
  spec: PolicySpec,
  candidate: Candidate,
  { findWorkload, aliases, supportedKinds, crossNamespace }: PlanPorts,
  consents?: ReadonlyMap<string, Consent>,
): UpdatePlan {
  const { history = [], lastAppliedTag } = policy.status;
  const hasApplied = history.length > 0 || lastAppliedTag !== undefined;
  const plan = planUpdate({ spec, candidate, hasApplied, aliases, supportedKinds, findWorkload });
  return guardPlan(plan, { policy, crossNamespace, ...(consents !== undefined && { consents }) });
}
