/**
 * Whether a cache knows all objects that existed at a time. "There is no such policy" is final for a push, so a watch that died silently must not decide it: it counts
 * only if the watch was heard of after the push had come, or if a list shows that it has missed nothing.
 */
import { abortable } from '../../core/async/deadline.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { confirmedForMs } from '../../core/model/confirmation.ts';
import { isNewer } from '../../core/model/workload.ts';
import type { KubeClient } from '../kube/client.ts';
import type { StoredObject, StoreView } from '../kube/object-store.ts';
import { listPages, listPath, metadataForms, type Resource } from '../kube/objects.ts';
import type { Reflector } from '../kube/reflector.ts';
import { readMetadata } from '../kube/watch-events.ts';

/** With more objects, the watch is waited for instead: then it is heard of often, and a list costs too much. */
const maxListed = 2_000;
const pageSize = 500;
/** Lists take at most this part of the time: between two, several times as long as the last one took. */
const restFactor = 4;
const maxWaiting = 10_000;

/** A cache, and the watches that fill it. */
export interface ListSources {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly store: Pick<StoreView<StoredObject>, 'get' | 'size'>;
  readonly watches: () => readonly { readonly namespace: string | undefined; readonly reflector: Pick<Reflector, 'state' | 'reconnect'> }[];
  /** A monotonic clock, in milliseconds. */
  readonly monotonicNow?: () => number;
}

/**
 * Whether the cache knows all that existed when this was first asked for `key`; false: ask again later, with the same key, because the watch has missed something or
 * has to be waited for. One list serves all that ask at the same time. A watch that missed something is reopened.
 */
export type CheckList = (key: string, signal: AbortSignal) => Promise<boolean>;

/** Creates the check. It costs no request where the watch was heard of since. */
export function createListCheck({ client, resource, store, watches, monotonicNow = () => performance.now() }: ListSources): CheckList {
  const since = new BoundedMap<string, number>(maxWaiting);
  const isMissing = (item: unknown): boolean => {
    const { namespace, name, resourceVersion } = readMetadata(item);
    const known = store.get(namespace, name);
    return known === undefined || isNewer(resourceVersion, known.resourceVersion);
  };
  const hasAll = async (namespace: string | undefined): Promise<boolean> => {
    const listed: unknown[] = [];
    for await (const { items } of listPages(client, { path: listPath(resource, namespace), pageSize, accept: metadataForms.list })) {
      listed.push(...items);
      if (listed.length > maxListed) return false;
    }
    // The watch may be on its way with what was changed a moment ago: only what is compared at the end is missing.
    return !listed.some(isMissing);
  };
  const lists = new Map<string | undefined, () => Promise<boolean>>();
  const listOf = (namespace: string | undefined) => {
    const list = lists.get(namespace) ?? shareNext(() => hasAll(namespace), monotonicNow);
    lists.set(namespace, list);
    return list;
  };
  return async (key, signal) => {
    const askedAt = since.get(key) ?? monotonicNow();
    since.set(key, askedAt);
    const isHeardOf = (reflector: Pick<Reflector, 'state'>) => monotonicNow() - quietOf(reflector) >= askedAt;
    const isComplete = async ({ namespace, reflector }: ReturnType<ListSources['watches']>[number]): Promise<boolean> => {
      if (reflector.state().isForbidden || isHeardOf(reflector)) return true;
      if (store.size > maxListed) return false;
      if ((await abortable(listOf(namespace)(), signal)) || isHeardOf(reflector)) return true;
      if (quietOf(reflector) >= confirmedForMs) reflector.reconnect();
      return false;
    };
    const answers = await Promise.all(watches().map(isComplete));
    const areComplete = answers.every(Boolean);
    if (areComplete) since.delete(key);
    return areComplete;
  };
}

function quietOf(reflector: Pick<Reflector, 'state'>): number {
  return reflector.state().quietMs ?? Number.POSITIVE_INFINITY;
}

/** Runs `work` for all that ask before it begins; those that come while it runs share the next run, which begins after a rest. */
function shareNext<T>(work: () => Promise<T>, monotonicNow: () => number): () => Promise<T> {
  let next: Promise<T> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    if (next !== undefined) return next;
    const run = last.then(async () => {
      next = undefined;
      const startedAt = monotonicNow();
      const rest = () => new Promise((resolve) => setTimeout(resolve, restFactor * (monotonicNow() - startedAt)).unref());
      const running = work();
      last = running.then(rest, rest);
      return running;
    });
    next = run;
    last = run;
    return run;
  };
}
