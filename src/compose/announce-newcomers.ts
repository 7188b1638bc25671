import { isUsable, type ImagePolicy } from '../core/image-policy.ts';
import { isMeant, resolveTarget } from '../core/resolve-target.ts';
import type { Workload } from '../core/workload.ts';
import type { ObjectChange } from '../kube/object-store.ts';
import type { Waker } from '../work/waker.ts';
import type { ClusterCache } from './cluster-cache.ts';

type Cache = Pick<ClusterCache, 'policiesOf' | 'workloads'>;

/**
 * Tells the policies that mean a workload now, and did not before: it was created, its labels were changed, or its owners answered policies of other
 * namespaces. What a first list holds is new to nobody.
 */
export function announceNewcomers(
  { type, object, previous }: ObjectChange<Workload>,
  cache: Cache,
  waker: Pick<Waker, 'considerNewcomer'>,
): void {
  if (type === 'deleted' || (previous !== undefined && sameLabels(previous, object) && sameAnswer(previous, object))) return;
  const state = cache.workloads.state(object, object.namespace);
  if (state === 'starting' || 'problem' in state) return;
  for (const policy of cache.policiesOf(object)) {
    if (previous === undefined || !means(policy, previous) || !sameAnswer(previous, object)) waker.considerNewcomer(policy, object.uid);
  }
}

/** Tells the policies of other namespaces whose targets are in a Namespace that says something else of consent than before. */
export function announceConsent(
  namespace: string,
  cache: Pick<ClusterCache, 'policies' | 'findWorkload' | 'listWorkloads'>,
  waker: Pick<Waker, 'consider' | 'considerNewcomer'>,
): void {
  for (const policy of cache.policies.values()) {
    if (policy.namespace === namespace || !isUsable(policy.spec)) continue;
    const targets = policy.spec.targets.filter((target) => target.namespace === namespace);
    if (targets.length > 0) waker.consider(policy);
    for (const { uid } of targets.flatMap((target) => resolveTarget(target, cache))) waker.considerNewcomer(policy, uid);
  }
}

function means({ spec }: ImagePolicy, workload: Workload): boolean {
  return isUsable(spec) && spec.targets.some((target) => isMeant(target, workload));
}

function sameAnswer(a: Workload, b: Workload): boolean {
  return a.allowPoliciesFrom === b.allowPoliciesFrom;
}

function sameLabels({ labels: a = {} }: Workload, { labels: b = {} }: Workload): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
