import { isUsable, type ImagePolicy } from '../core/image-policy.ts';
import { isMeant } from '../core/resolve-target.ts';
import type { Workload } from '../core/workload.ts';
import type { ObjectChange } from '../kube/object-store.ts';
import type { Waker } from '../work/waker.ts';
import type { ClusterCache } from './cluster-cache.ts';

/** Tells the policies that mean a workload now and did not before: it was created, or its labels were changed. What a first list holds is new to nobody. */
export function announceNewcomers(
  { type, object, previous }: ObjectChange<Workload>,
  cache: Pick<ClusterCache, 'policiesOf' | 'workloads'>,
  waker: Pick<Waker, 'considerNewcomer'>,
): void {
  if (type === 'deleted' || (previous !== undefined && sameLabels(previous, object))) return;
  const state = cache.workloads.state(object, object.namespace);
  if (state === 'starting' || 'problem' in state) return;
  for (const policy of cache.policiesOf(object)) {
    if (previous === undefined || !means(policy, previous)) waker.considerNewcomer(policy, object.uid);
  }
}

function means({ spec }: ImagePolicy, workload: Workload): boolean {
  return isUsable(spec) && spec.targets.some((target) => isMeant(target, workload));
}

function sameLabels({ labels: a = {} }: Workload, { labels: b = {} }: Workload): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
