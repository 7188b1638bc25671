/**
 * Reads an object as it was at most 3 s ago. The connection of a watch can die silently, and then the cache does not show that an object was changed or deleted. If
 * the watch has received nothing for 3 s, the object is read from the API server; otherwise it costs no request.
 */
import { BoundedMap } from '../core/async/bounded-map.ts';
import { abortable } from '../core/async/deadline.ts';
import { confirmedForMs } from '../core/model/confirmation.ts';
import { isNewer } from '../core/model/workload.ts';
import type { ObjectName, ObjectStore, StoredObject } from '../service/kube/object-store.ts';
import type { Reflector } from '../service/kube/reflector.ts';

const maxReads = 10_000;
const maxTries = 3;

/** The cache of the objects of a kind, their watches, and the API server. */
export interface ConfirmedSources<T extends StoredObject> {
  readonly objects: ObjectStore<T>;
  /** The watch that reports the objects of a namespace. */
  readonly watchOf: (namespace: string) => Pick<Reflector, 'state' | 'reconnect'> | undefined;
  /** Reads the object from the API server; undefined if it does not exist. */
  readonly read: (name: ObjectName) => Promise<T | undefined>;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicNow?: () => number;
}

/** An object as it was at a time of the monotonic clock, at most 3 s ago; undefined if it did not exist then. */
export interface Confirmed<T> {
  readonly object: T | undefined;
  readonly confirmedAt: number;
}

/** Reads an object. Rejects if the API server does not answer in time. */
export type ReadConfirmed<T> = (name: ObjectName, signal: AbortSignal) => Promise<Confirmed<T>>;

/** Creates the reader. An object that it reads goes into the cache, and the watch that missed it is reopened. */
export function createConfirmedReader<T extends StoredObject>({
  objects,
  watchOf,
  read,
  monotonicNow = () => performance.now(),
}: ConfirmedSources<T>): ReadConfirmed<T> {
  const reads = new BoundedMap<string, { readonly at: number; readonly found: Promise<T | undefined> }>(maxReads);

  const readAgain = async ({ namespace, name }: ObjectName): Promise<T | undefined> => {
    const before = objects.get(namespace, name);
    const found = await read({ namespace, name });
    const cached = objects.get(namespace, name);
    // The object is not in the cache: the watch has reported its deletion since, which must not be reverted, or has not reported the object yet.
    if (before === undefined || cached === undefined) return found;
    if (found !== undefined && !isNewer(found.resourceVersion, cached.resourceVersion)) return cached;
    // Our own write may have made a newer version during the read. An object that is missing now does not come back with the same uid.
    if (found !== undefined) objects.put(found);
    else if (cached.uid === before.uid) objects.remove(cached);
    watchOf(namespace)?.reconnect();
    return objects.get(namespace, name);
  };
  /** Begins a read that serves all callers within 3 s. */
  const begin = (key: string, name: ObjectName) => {
    const entry = { at: monotonicNow(), found: readAgain(name) };
    reads.set(key, entry);
    entry.found.catch(() => reads.get(key) === entry && reads.delete(key));
    return entry;
  };

  return async (name, signal) => {
    const { namespace } = name;
    const cached = objects.get(namespace, name.name);
    const calledAt = monotonicNow();
    const quietMs = watchOf(namespace)?.state().quietMs ?? confirmedForMs;
    if (cached !== undefined && quietMs < confirmedForMs) return { object: cached, confirmedAt: calledAt - quietMs };
    const key = `${namespace}/${name.name}`;
    for (let tries = 0; tries < maxTries; tries++) {
      const known = reads.get(key);
      const entry = known !== undefined && monotonicNow() - known.at < confirmedForMs ? known : begin(key, name);
      const found = await abortable(entry.found, signal);
      // An answer that took longer would confirm an older state than promised.
      if (monotonicNow() - entry.at < confirmedForMs) return { object: objects.get(namespace, name.name) ?? found, confirmedAt: entry.at };
    }
    throw new Error(`the API server took more than ${confirmedForMs} ms to answer whether ${key} has changed`);
  };
}
