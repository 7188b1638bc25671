import { isNewer } from '../../core/model/workload.ts';

/** The fields of every stored object. Cluster-scoped objects have the namespace ''. */
export interface StoredObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** A change of the store; `previous` is the state before it. */
export interface ObjectChange<T> {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly object: T;
  readonly previous?: T;
}

/** A complete list, as a reflector read it. */
export interface Replacement<T> {
  readonly objects: readonly T[];
  /** The resourceVersion of the list. Objects that are stored at a newer one are not changed, because the list is older. */
  readonly resourceVersion: string;
  /** The namespace whose objects are replaced; undefined for all. */
  readonly namespace?: string | undefined;
  /** Objects that exist but could not be read. Their stored state is kept. */
  readonly unreadable?: readonly ObjectName[];
  /** Whether the API server was restored from a backup. The list is then valid even if its versions are older. */
  readonly force?: boolean;
}

/** Identifies an object of a known kind. */
export type ObjectName = Pick<StoredObject, 'namespace' | 'name'>;

/** The newest known state of all objects of one kind. One reflector for all namespaces, or one for each namespace, updates it. */
export interface ObjectStore<T extends StoredObject> {
  get(namespace: string, name: string): T | undefined;
  values(): IterableIterator<T>;
  readonly size: number;
  /** Calls the listener after each change; returns a function that unsubscribes it. */
  subscribe(listener: (change: ObjectChange<T>) => void): () => void;
  /**
   * Stores the response to one of our own writes, before the watch delivers it. Ignored unless it is newer than the stored state. Also ignored for objects that
   * are not stored, because a response that arrives after the deletion must not restore the object.
   */
  observe(object: T): void;

  /** Stores an object that a watch reports as added or modified. Ignored unless it is newer than the stored state. */
  put(object: T): void;
  /** Removes an object that a watch reports as deleted at this resourceVersion. Ignored if the stored state is newer. */
  remove(deleted: ObjectName & { readonly resourceVersion: string }): void;
  /**
   * Stores a list. Only differences from the stored state are reported as changes. Each step makes one change at most, so that other work and other changes may
   * run between them. If a listener throws, the others and all further changes are still made; then the error is thrown.
   */
  replaceInSteps(replacement: Replacement<T>): Generator<void, void>;
}

/** The read-only part of a store. */
export type StoreView<T extends StoredObject> = Pick<ObjectStore<T>, 'get' | 'values' | 'size' | 'subscribe'>;

/** A store of objects that are derived from others. The code that derives them decides when they change. */
export interface DerivedStore<T extends StoredObject> {
  readonly view: StoreView<T>;
  set(object: T): void;
  unset(name: ObjectName): void;
}

/** An empty derived store. */
export function createDerivedStore<T extends StoredObject>(): DerivedStore<T> {
  const { objects, view, set, unset, emit } = createObjects<T>();
  return {
    view,
    set: (object) => emit(set(object)),
    unset(name) {
      const stored = objects.get(keyOf(name));
      if (stored !== undefined) emit(unset(stored));
    },
  };
}

/** Objects by name, and the listeners to their changes. If a listener throws, the others are still called; then the maker of the change gets the error. */
function createObjects<T extends StoredObject>() {
  const objects = new Map<string, T>();
  const listeners = new Set<(change: ObjectChange<T>) => void>();

  const set = (object: T): ObjectChange<T>[] => {
    const previous = objects.get(keyOf(object));
    objects.set(keyOf(object), object);
    if (!previous) return [{ type: 'added', object }];
    if (previous.uid === object.uid) return [{ type: 'updated', object, previous }];
    // The object was deleted and created again under its old name.
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

  const view: StoreView<T> = {
    get: (namespace, name) => objects.get(keyOf({ namespace, name })),
    values: () => objects.values(),
    get size() {
      return objects.size;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return { objects, view, set, unset, emit };
}

/** Creates an empty store. If a listener throws, the others are still called; then the caller that made the change gets the error. */
export function createObjectStore<T extends StoredObject>(): ObjectStore<T> {
  const { objects, view, set, unset, emit } = createObjects<T>();
  return {
    get: view.get,
    values: view.values,
    get size() {
      return view.size;
    },
    subscribe: view.subscribe,
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
    *replaceInSteps({ objects: listed, resourceVersion, namespace, unreadable = [], force = false }) {
      const errors: unknown[] = [];
      const report = (changes: readonly ObjectChange<T>[]) => {
        try {
          emit(changes);
        } catch (error) {
          errors.push(error);
        }
      };
      const present = new Set<string>();
      // An empty store needs no comparison, because nothing can be gone from it.
      for (const object of objects.size === 0 ? [] : [...listed, ...unreadable]) yield void present.add(keyOf(object));
      for (const stored of objects.size === 0 ? [] : objects.values()) {
        if (namespace !== undefined && stored.namespace !== namespace) continue;
        const isGone = !present.has(keyOf(stored)) && (force || !isNewer(stored.resourceVersion, resourceVersion));
        yield isGone ? report(unset(stored)) : undefined;
      }
      for (const object of listed) {
        const stored = objects.get(keyOf(object));
        const differs = force
          ? stored?.resourceVersion !== object.resourceVersion
          : !stored || isNewer(object.resourceVersion, stored.resourceVersion);
        yield differs ? report(set(object)) : undefined;
      }
      if (errors.length > 0) throw new AggregateError(errors, 'a listener of the object store failed', { cause: errors[0] });
    },
  };
}

function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace}/${name}`;
}
