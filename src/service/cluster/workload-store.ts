import type { LabelSelector } from '../../core/model/label-selector.ts';
import type { Workload } from '../../core/model/workload.ts';
import { createObjectStore, type ObjectStore } from '../kube/object-store.ts';
import { createGroups } from './groups.ts';

/** All workloads of one kind, indexed by namespace and label: a selector among ten thousand workloads is compared with those that have its rarest label. */
export interface WorkloadStore extends ObjectStore<Workload> {
  /** At least those of a namespace that the selector matches; all of them without a selector. With `annotated`, only those with a consent annotation. */
  in(namespace: string, selector?: LabelSelector, annotated?: 'annotated'): Iterable<Workload>;
}

/** An empty store. */
export function createWorkloadStore(): WorkloadStore {
  const store = createObjectStore<Workload>();
  const index = createGroups<Workload>(({ name }) => name);
  const drop = (workload: Workload) => {
    for (const key of indexKeysOf(workload)) index.remove(key, workload.name);
  };
  store.subscribe(({ type, object, previous }) => {
    if (previous !== undefined) drop(previous);
    if (type === 'deleted') return drop(object);
    for (const key of indexKeysOf(object)) index.set(key, object);
  });
  return Object.assign(store, {
    in(namespace: string, selector: LabelSelector = {}, annotated?: 'annotated') {
      if (annotated !== undefined) return index.get(annotatedKey(namespace)).values();
      const pairs = Object.entries(selector.matchLabels ?? {}).map((pair) => labelKey(namespace, pair));
      const found = (pairs.length === 0 ? [namespace] : pairs).map((key) => index.get(key));
      return found.reduce((rarest, entry) => (entry.size < rarest.size ? entry : rarest)).values();
    },
  });
}

function indexKeysOf({ namespace, labels = {}, allowPoliciesFrom }: Workload): string[] {
  const annotated = allowPoliciesFrom === undefined ? [] : [annotatedKey(namespace)];
  return [namespace, ...annotated, ...Object.entries(labels).map((pair) => labelKey(namespace, pair))];
}

/** No label has an empty name. */
function annotatedKey(namespace: string): string {
  return `${namespace}/`;
}

/** No namespace has a slash. */
function labelKey(namespace: string, [key, value]: [string, string]): string {
  return `${namespace}/${key}=${value}`;
}
