import { isNewer } from '../model/workload.ts';

/** What every stored object has; cluster-scoped ones have namespace ''. */
export interface StoredObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** One change of the store; `previous` is what was there before. */
export interface ObjectChange<T> {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly object: T;
  readonly previous?: T;
}

/** A complete list, as a reflector read it. */
export interface Replacement<T> {
  readonly objects: readonly T[];
  /** The list's own resourceVersion: objects stored at a newer one are left alone, the list cannot know them. */
  readonly resourceVersion: string;
  /** Only objects of this namespace are replaced; undefined: all. */
  readonly namespace?: string | undefined;
  /** Objects that exist, but could not be read: what is stored of them stays. */
  readonly unreadable?: readonly ObjectName[];
  /** The server was set back to an older state (a restored backup): the list is right even where it looks older. */
  readonly force?: boolean;
}

/** What names an object of a known kind. */
export type ObjectName = Pick<StoredObject, 'namespace' | 'name'>;

/** The newest known state of all objects of one kind. Fed by one reflector for all namespaces or by one for each. */
export interface ObjectStore<T extends StoredObject> {
  get(namespace: string, name: string): T | undefined;
  values(): IterableIterator<T>;
  readonly size: number;
  /** Calls back after each change, when the store already shows it; returns how to unsubscribe. */
  subscribe(listener: (change: ObjectChange<T>) => void): () => void;
  /**
   * Takes over what the answer to an own write told, before the watch brings it. Ignored unless it is newer than what is stored, and for objects that
   * are not stored: an answer that arrives after the deletion must not bring the object back.
   */
  observe(object: T): void;

  /** From a watch: added or modified. Ignored unless newer. */
  put(object: T): void;
  /** From a watch: deleted at this resourceVersion. Ignored when what is stored is newer. */
  remove(deleted: ObjectName & { readonly resourceVersion: string }): void;
  /** From a list: reports as changes only what differs from what is stored. */
  replace(replacement: Replacement<T>): void;
}

/** An empty store. A listener that throws does not keep the others from being called; its error reaches whoever made the change, when all is done. */
export function createObjectStore<T extends StoredObject>(): ObjectStore<T> {
  const objects = new Map<string, T>();
  const listeners = new Set<(change: ObjectChange<T>) => void>();

  const set = (object: T): ObjectChange<T>[] => {
    const previous = objects.get(keyOf(object));
    objects.set(keyOf(object), object);
    if (!previous) return [{ type: 'added', object }];
    if (previous.uid === object.uid) return [{ type: 'updated', object, previous }];
    // Deleted and created again under its old name.
    return [
      { type: 'deleted', object: previous },
      { type: 'added', object },
    ];
  };
  const unset = (object: T): ObjectChange<T>[] => {
    objects.delete(keyOf(object));
    return [{ type: 'deleted', object }];
  };
  const emit = (changes: readonly ObjectChange<T>[]): void => {
    const errors: unknown[] = [];
    for (const change of changes) {
      for (const listener of listeners) {
        try {
          listener(change);
        } catch (error) {
          errors.push(error);
        }
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'a listener of the object store failed', { cause: errors[0] });
  };

  return {
    get: (namespace, name) => objects.get(keyOf({ namespace, name })),
    values: () => objects.values(),
    get size() {
      return objects.size;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    observe(object) {
      const stored = objects.get(keyOf(object));
      if (stored?.uid === object.uid && isNewer(object.resourceVersion, stored.resourceVersion)) emit(set(object));
    },
    put(object) {
      const stored = objects.get(keyOf(object));
      if (!stored || isNewer(object.resourceVersion, stored.resourceVersion)) emit(set(object));
    },
    remove(deleted) {
      const stored = objects.get(keyOf(deleted));
      if (stored && !isNewer(stored.resourceVersion, deleted.resourceVersion)) emit(unset(stored));
    },
    replace({ objects: listed, resourceVersion, namespace, unreadable = [], force = false }) {
      const present = new Set([...listed, ...unreadable].map(keyOf));
      const changes: ObjectChange<T>[] = [];
      for (const stored of objects.values()) {
        if (namespace !== undefined && stored.namespace !== namespace) continue;
        const isGone = !present.has(keyOf(stored)) && (force || !isNewer(stored.resourceVersion, resourceVersion));
        if (isGone) changes.push(...unset(stored));
      }
      for (const object of listed) {
        const stored = objects.get(keyOf(object));
        const differs = force
          ? stored?.resourceVersion !== object.resourceVersion
          : !stored || isNewer(object.resourceVersion, stored.resourceVersion);
        if (differs) changes.push(...set(object));
      }
      emit(changes);
    },
  };
}

function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace}/${name}`;
}
