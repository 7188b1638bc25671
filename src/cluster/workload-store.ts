import type { LabelSelector } from '../model/label-selector.ts';
import type { Workload } from '../model/workload.ts';
import { createObjectStore, type ObjectStore } from '../kube/object-store.ts';

/** All workloads of one kind, also by namespace and label: a selector among ten thousand workloads looks at those that have its rarest label. */
export interface WorkloadStore extends ObjectStore<Workload> {
  /** At least those of a namespace that the selector matches; all of it without one. With `answering`, only those with an answer to policies of other namespaces. */
  in(namespace: string, selector?: LabelSelector, answering?: 'answering'): Iterable<Workload>;
}

const nothing: ReadonlyMap<string, Workload> = new Map();

/** An empty store. */
export function createWorkloadStore(): WorkloadStore {
  const store = createObjectStore<Workload>();
  const shelves = new Map<string, Map<string, Workload>>();
  const drop = (workload: Workload) => {
    for (const shelf of shelvesOf(workload)) {
      const names = shelves.get(shelf);
      names?.delete(workload.name);
      if (names?.size === 0) shelves.delete(shelf);
    }
  };
  store.subscribe(({ type, object, previous }) => {
    if (previous !== undefined) drop(previous);
    if (type === 'deleted') return drop(object);
    for (const shelf of shelvesOf(object)) shelves.set(shelf, (shelves.get(shelf) ?? new Map<string, Workload>()).set(object.name, object));
  });
  return Object.assign(store, {
    in(namespace: string, selector: LabelSelector = {}, answering?: 'answering') {
      if (answering !== undefined) return (shelves.get(answeringShelf(namespace)) ?? nothing).values();
      const pairs = Object.entries(selector.matchLabels ?? {}).map((pair) => labelShelf(namespace, pair));
      const found = (pairs.length === 0 ? [namespace] : pairs).map((shelf) => shelves.get(shelf) ?? nothing);
      return found.reduce((rarest, shelf) => (shelf.size < rarest.size ? shelf : rarest)).values();
    },
  });
}

function shelvesOf({ namespace, labels = {}, allowPoliciesFrom }: Workload): string[] {
  const answering = allowPoliciesFrom === undefined ? [] : [answeringShelf(namespace)];
  return [namespace, ...answering, ...Object.entries(labels).map((pair) => labelShelf(namespace, pair))];
}

/** No label has an empty name. */
function answeringShelf(namespace: string): string {
  return `${namespace}/`;
}

/** No namespace has a slash. */
function labelShelf(namespace: string, [key, value]: [string, string]): string {
  return `${namespace}/${key}=${value}`;
}
