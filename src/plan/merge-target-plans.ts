import type { TargetPlan } from './plan-update.ts';
import { workloadKey } from '../model/workload.ts';

/**
 * One plan for each workload, because each is changed by one request: several targets may mean the same one, by name and by a selector, or other fields of it.
 * Targets without a workload stay apart.
 */
export function mergeTargetPlans(plans: readonly TargetPlan[]): TargetPlan[] {
  const merged: TargetPlan[] = [];
  const places = new Map<string, number>();
  for (const plan of plans) {
    const key = workloadKey(plan.target);
    const place = places.get(key);
    const former = place === undefined ? undefined : merged[place];
    if (place === undefined || former === undefined || former.workload === undefined || plan.workload === undefined) {
      places.set(key, merged.push(plan) - 1);
    } else {
      merged[place] = merge(former, plan);
    }
  }
  return merged;
}

function merge(a: TargetPlan, b: TargetPlan): TargetPlan {
  const problem = a.problem ?? b.problem;
  return {
    ...a,
    changes: distinct([...a.changes, ...b.changes]),
    kept: distinct([...a.kept, ...b.kept]),
    ...(problem !== undefined && { problem }),
  };
}

/** Names of containers are unique in a pod, init containers included, and those of image volumes begin otherwise; fields have their paths for names. */
function distinct<T extends { readonly container: string }>(parts: readonly T[]): T[] {
  return [...new Map(parts.map((part) => [part.container, part])).values()];
}
