/** Reads the dependents of policies for the API: at most once in some seconds for each policy. */
import { createTtlCache } from '../../core/async/bounded-map.ts';
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import { type DependentList, listDependents } from './list-dependents.ts';
import type { BaseView } from './view.ts';

/** A list is made from all workloads of the cluster, which callers must not cause as often as they like. */
const lifeMs = 5_000;
const maxLists = 100;

export type ReadDependents = (policy: BaseImagePolicy) => Promise<DependentList>;

/** Creates the reader of one process. */
export function createReadDependents({ readKept, images }: BaseView): ReadDependents {
  const lists = createTtlCache<DependentList>({ ttlMs: lifeMs, limit: maxLists, elapsed: () => performance.now() });
  return (policy) =>
    lists.get(`${policy.uid} ${policy.resourceVersion}`, async () => listDependents(policy, await readKept(policy), images));
}
