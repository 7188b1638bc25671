import type { LabelSelector } from '../../core/model/label-selector.ts';
import type { Workload } from '../../core/model/workload.ts';
import { createObjectStore, type ObjectStore } from '../kube/object-store.ts';
import { createGroups } from '../../core/async/groups.ts';

/** All workloads of one kind, indexed by namespace and label. Among ten thousand workloads, a selector is compared with those that have its rarest label. */
export interface WorkloadStore extends ObjectStore<Workload> {
  /** The workloads of a namespace, at least those that the selector matches. With `annotated`, only those with a consent annotation. */
  in(namespace: string, selector?: LabelSelector, annotated?: 'annotated'): Iterable<Workload>;
}

/** Creates an empty store. */
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

/** The index key for workloads with a consent annotation. It has an empty label name, which no label has. */
function annotatedKey(namespace: string): string {
  return `${namespace}/`;
}

/** The index key for workloads with a label. It begins with the namespace, which contains no slash. */
function labelKey(namespace: string, [key, value]: [string, string]): string {
  return `${namespace}/${key}=${value}`;
}
