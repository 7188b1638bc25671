/** Visits all policies once for the checks of the doctor. Nobody waits for a report as long as for a push, so the walk is a gentle one. */
import { gently, inSlices } from '../../core/async/in-parallel.ts';
import { type ImagePolicy, isUsable, policyKey } from '../../core/model/image-policy.ts';
import { matchesSelector } from '../../core/model/label-selector.ts';
import { resolveTargets, type WorkloadView } from '../../core/model/resolve-target.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import { findNeverProven } from '../../core/plan/never-proven.ts';
import type { FollowView } from '../../core/plan/proven.ts';
import { refusalOf } from '../checks/allowed-checks.ts';
import type { Config } from '../config/settings.ts';
import type { PolicySummary, RefusedCheck, Unprovable, WithoutCanary } from '../doctor/checks/policies.ts';

/** What the checks need of all policies. */
export interface PolicySurvey {
  readonly summaries: readonly PolicySummary[];
  readonly refusedChecks: readonly RefusedCheck[];
  readonly unprovable: readonly Unprovable[];
  readonly withoutCanaries: readonly WithoutCanary[];
  /** How many policies each registry has. */
  readonly registries: ReadonlyMap<string, number>;
  readonly asksTrivyOperator: boolean;
}

export interface SurveyMeans {
  readonly policies: () => Iterable<ImagePolicy>;
  /** The workloads that policies change, and the policies that they may follow. */
  readonly cluster: WorkloadView & FollowView;
}

/** Surveys all policies. Rejects with the reason of the signal. `allowed`: the checks of rollouts that the configuration allows. */
export async function surveyPolicies(
  { policies, cluster }: SurveyMeans,
  allowed: Config['checks'],
  signal: AbortSignal,
): Promise<PolicySurvey> {
  const summaries: PolicySummary[] = [];
  const refused: RefusedCheck[] = [];
  const unprovable: Unprovable[] = [];
  const withoutCanaries: WithoutCanary[] = [];
  const registries = new Map<string, number>();
  let asksTrivyOperator = false;
  const visit = (policy: ImagePolicy) => {
    summaries.push(summarise(policy));
    if (!isUsable(policy.spec)) return;
    const { repository, vulnerabilities, suspended } = policy.spec;
    refused.push(...refusedChecks(policy, allowed));
    if (!suspended) unprovable.push(...unprovableOf(policy, cluster));
    if (!suspended) withoutCanaries.push(...withoutCanary(policy, cluster));
    registries.set(repository.registry, (registries.get(repository.registry) ?? 0) + 1);
    asksTrivyOperator ||= vulnerabilities?.trivyOperator === true;
  };
  await inSlices(policies(), signal, visit, gently);
  return { summaries, refusedChecks: refused, unprovable, withoutCanaries, registries, asksTrivyOperator };
}

function unprovableOf(policy: ImagePolicy, view: FollowView): Unprovable[] {
  return findNeverProven(policy, view).map(({ kind, followed, message }) => ({
    policy: policyKey(policy),
    followed: policyKey(followed),
    why: message,
    isUncertain: kind === 'Missing' || kind === 'NotSeen',
  }));
}

/** A policy whose waves should begin with canaries, of which it has none. A single workload needs no order. */
function withoutCanary(policy: ImagePolicy, cluster: SurveyMeans['cluster']): WithoutCanary[] {
  const { spec } = policy;
  const canaries = isUsable(spec) ? spec.rollout?.waves?.canaries : undefined;
  if (canaries === undefined || !isUsable(spec)) return [];
  const workloads = resolveTargets(spec.targets, asSeenBy(policy, cluster));
  const hasCanary = workloads.some(({ labels }) => matchesSelector(canaries, labels));
  return workloads.length < 2 || hasCanary ? [] : [{ policy: policyKey(policy), workloads: workloads.length }];
}

function refusedChecks({ spec, ...policy }: ImagePolicy, allowed: Config['checks']): RefusedCheck[] {
  const checked = isUsable(spec) ? (spec.rollout?.checks ?? []) : [];
  return checked.flatMap(({ name, question }) => {
    const why = refusalOf(question, policy.namespace, { ...allowed, servers: allowed.prometheus });
    return why === undefined ? [] : [{ policy: policyKey(policy), check: name, why }];
  });
}

function summarise({ generation, createdAt, status, ...policy }: ImagePolicy): PolicySummary {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return {
    key: policyKey(policy),
    isReady: ready?.status === 'True',
    reason: ready?.reason,
    message: ready?.message,
    isObserved: status.observedGeneration === generation,
    createdAt: createdAt === undefined ? undefined : Date.parse(createdAt),
  };
}
