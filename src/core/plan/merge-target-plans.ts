import { defined } from '../model/defined.ts';
import type { TargetPlan } from './plan-update.ts';
import { workloadKey } from '../model/workload.ts';

/**
 * Merges the plans for the same workload, because each workload is changed by one request. Several targets may match it, by name and by selector, or name
 * different fields of it. Targets without a workload stay separate.
 */
export function mergeTargetPlans(plans: readonly TargetPlan[]): TargetPlan[] {
  const merged: TargetPlan[] = [];
  const indexes = new Map<string, number>();
  for (const plan of plans) {
    const key = workloadKey(plan.target);
    const index = indexes.get(key);
    const former = index === undefined ? undefined : merged[index];
    if (index === undefined || former === undefined || former.workload === undefined || plan.workload === undefined) {
      indexes.set(key, merged.push(plan) - 1);
    } else {
      merged[index] = merge(former, plan);
    }
  }
  return merged;
}

function merge(a: TargetPlan, b: TargetPlan): TargetPlan {
  const problem = a.problem ?? b.problem;
  return {
    ...a,
    changes: distinct([...a.changes, ...b.changes]),
    unchanged: distinct([...a.unchanged, ...b.unchanged]),
    ...defined({ problem }),
  };
}

/** The entries with distinct container names: those in a pod are unique, names of image volumes have a prefix, and fields are named by paths. */
function distinct<T extends { readonly container: string }>(parts: readonly T[]): T[] {
  return [...new Map(parts.map((part) => [part.container, part])).values()];
}
