import { isDeepStrictEqual } from 'node:util';
import { asSeenBy } from '../../core/plan/consent.ts';
import { isUsable } from '../../core/model/image-policy.ts';
import { resolveTargets } from '../../core/model/resolve-target.ts';
import type { Workload } from '../../core/model/workload.ts';
import type { ClusterView } from '../reconcile/ports.ts';
import type { WorkloadChange } from '../reconcile/enqueue/enqueue-new-targets.ts';
import type { Considered } from './plan-now.ts';

/** The pods of all targets that roll out, as their controllers report them. */
export interface PodCounts {
  readonly wanted: number;
  readonly available: number;
  /** How many should be of the newest revision, and how many are. */
  readonly toUpdate: number;
  readonly updated: number;
}

/** The pods of the workloads that the policy may see, from the caches; undefined if none of them rolls out. */
export function countPods({ policy, why }: Considered, cluster: ClusterView): PodCounts | undefined {
  const { spec } = policy;
  if (why !== undefined || !isUsable(spec)) return undefined;
  const counts = resolveTargets(spec.targets, asSeenBy(policy, cluster)).flatMap((workload) => podsOf(workload) ?? []);
  if (counts.length === 0) return undefined;
  const sum = (name: keyof PodCounts) => counts.reduce((total, one) => total + one[name], 0);
  return { wanted: sum('wanted'), available: sum('available'), toUpdate: sum('toUpdate'), updated: sum('updated') };
}

/** Whether the pods of a workload are counted otherwise after a change. */
export function hasOtherPods({ type, object, previous }: WorkloadChange): boolean {
  return !isDeepStrictEqual(type === 'deleted' ? undefined : podsOf(object), previous && podsOf(previous));
}

function podsOf({ rollout, generation }: Workload): PodCounts | undefined {
  if (rollout === undefined) return undefined;
  const { wanted, available, toUpdate, updated, observedGeneration } = rollout;
  // Until the controller has seen the newest revision, its numbers are those of the one before.
  const isSeen = observedGeneration >= generation;
  // While a rollout adds pods before it removes others, more are available than there should be.
  return { wanted, available: Math.min(wanted, available), toUpdate, updated: isSeen ? Math.min(toUpdate, updated) : 0 };
}
