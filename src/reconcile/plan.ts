import { asSeenBy, unseenProblem, type ConsentRules } from '../plan/consent.ts';
import { guardPlan, rollbackGuards } from '../plan/guard-plan.ts';
import { pastOf } from '../plan/guards/last-change.ts';
import type { GuardContext } from '../plan/guards/guard.ts';
import type { ImagePolicy, PolicySpec, PolicyTarget } from '../model/image-policy.ts';
import type { RegistryAliases, Candidate } from '../model/image-reference.ts';
import { planUpdate, type TargetProblem, type UpdatePlan } from '../plan/plan-update.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { strategies } from '../select/strategies/index.ts';

/** The state of a target's kind: not listed yet; known since a time; or the reason why it cannot be known. */
export type TargetState = 'starting' | { readonly since: number } | { readonly problem: TargetProblem };

/** What the caches hold about the cluster's workloads. */
export interface PlanPorts extends WorkloadView, ConsentRules, Pick<GuardContext, 'repeatsPerHour'> {
  readonly targetState: (target: PolicyTarget, policy: Pick<ImagePolicy, 'namespace'>) => TargetState;
  readonly aliases: RegistryAliases;
  readonly now: () => number;
}

/** What one reconcile knows in addition to the caches. */
export interface PlanDetails extends Pick<GuardContext, 'consents' | 'applied'> {
  /** Whether a user asked for exactly this image: then it replaces whatever runs, and few guards apply. */
  readonly isRollback?: boolean;
}

/**
 * Plans a candidate from the caches, limited to what the policy may see; costs no request. Without `consents`, the plan must not be applied to targets in other
 * namespaces. Throws where a kind has not been listed yet: unknown workloads must not be taken for missing ones.
 */
export function planWith(
  policy: ImagePolicy,
  spec: PolicySpec,
  candidate: Candidate,
  ports: PlanPorts,
  { isRollback = false, ...known }: PlanDetails = {},
): UpdatePlan {
  const { targetState, aliases, crossNamespace, repeatsPerHour, now } = ports;
  const { findWorkload, listWorkloads } = asSeenBy(policy, ports);
  const { history = [], latest } = policy.status;
  const wanted = isRollback ? { ...spec, strategy: strategies.digest({ tag: candidate.tag }), allowDowngrade: true } : spec;
  const kindProblem = (target: PolicyTarget) => {
    const state = targetState(target, policy);
    if (state === 'starting') throw new Error(`the workloads of kind ${target.kind} have not been listed yet`);
    return 'problem' in state ? state.problem : undefined;
  };
  const plan = planUpdate({
    spec: wanted,
    candidate,
    ...(isRollback ? { hasApplied: false } : pastOf(policy)),
    aliases,
    digestOf: (tag) => (latest?.tag === tag ? latest : history.find((entry) => entry.tag === tag))?.digest,
    kindProblem,
    findWorkload,
    listWorkloads,
    unseenProblem: (target) => unseenProblem(target, policy, crossNamespace),
  });
  const context: GuardContext = { policy, spec, candidate, crossNamespace, repeatsPerHour, now: new Date(now()), ...known };
  return isRollback ? guardPlan(plan, context, rollbackGuards) : guardPlan(plan, context);
}
