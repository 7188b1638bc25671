import type { ImagePolicy } from '../core/image-policy.ts';
import { createPolicyIndex } from '../core/match-policies.ts';
import type { Workload, WorkloadRef } from '../core/workload.ts';
import { createObjectStore } from '../kube/object-store.ts';
import { createHealingIndex } from '../work/healing-index.ts';
import { createTargetIndex } from '../work/wake-policies.ts';

export type ClusterCache = ReturnType<typeof createClusterCache>;

/** What is known of the cluster, with the indexes that answer "who watches this repository", "who targets this workload" and "whom may a Secret heal". */
export function createClusterCache() {
  const policies = createObjectStore<ImagePolicy>();
  const workloads = createObjectStore<Workload>();
  const byRepository = createPolicyIndex();
  const byTarget = createTargetIndex();
  const healing = createHealingIndex();
  policies.subscribe(({ type, object }) => {
    for (const index of [byRepository, byTarget, healing]) {
      if (type === 'deleted') index.remove(object);
      else index.put(object);
    }
  });
  const findPolicy = (namespace: string, name: string) => policies.get(namespace, name);
  return {
    policies,
    workloads,
    findPolicy,
    findWorkload({ kind, namespace, name }: WorkloadRef): Workload | undefined {
      const workload = workloads.get(namespace, name);
      return workload?.kind === kind ? workload : undefined;
    },
    matchPolicies: byRepository.match,
    /** Policies that a changed Secret may heal, in one namespace or (undefined) in all. */
    healedBySecretIn: (namespace: string | undefined) =>
      healing.stalledIn(namespace).flatMap(({ namespace, name }) => findPolicy(namespace, name) ?? []),
    policiesOf: (workload: WorkloadRef) =>
      byTarget.policiesOf(workload).flatMap(({ namespace, name }) => findPolicy(namespace, name) ?? []),
  };
}
