/**
 * Checks whether a cache knows all objects that existed at a time. A push is dropped for ever if it has no policy, so a watch that died silently must not
 * decide this. The cache counts only if the watch has reported something after the push came, or if a list shows that it has missed nothing.
 */
import { abortable, startDeadline } from '../../core/async/deadline.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { confirmedForMs } from '../../core/model/confirmation.ts';
import { isNewer } from '../../core/model/workload.ts';
import type { KubeClient } from '../kube/client.ts';
import type { StoredObject, StoreView } from '../kube/object-store.ts';
import { listPages, listPath, metadataForms, type Resource } from '../kube/objects.ts';
import type { Reflector } from '../kube/reflector.ts';
import { readMetadata } from '../kube/watch-events.ts';

/** The number of objects above which the watch is waited for. It then reports often, and a list would cost too much. */
const maxListed = 2_000;
const pageSize = 500;
/** A list that takes longer is given up: after the death of a node, requests on connections that were open are never answered. */
const listMs = 5_000;
/** The pause between two lists is this many times as long as the last list took, but no longer than `maxRestMs`. */
const restFactor = 4;
const maxRestMs = 10_000;
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
 * Whether the cache knows all objects that existed when this was first called for `key`. If false, call it again later with the same key: the watch has missed
 * something, or has to be waited for. One list serves all simultaneous callers. A watch that missed something is reopened.
 */
export type CheckList = (key: string, signal: AbortSignal) => Promise<boolean>;

/** Creates the check. It costs no request if the watch has reported something since the key was first checked. */
export function createListCheck({ client, resource, store, watches, monotonicNow = () => performance.now() }: ListSources): CheckList {
  const since = new BoundedMap<string, number>(maxWaiting);
  const isMissing = (item: unknown): boolean => {
    const { namespace, name, resourceVersion } = readMetadata(item);
    const known = store.get(namespace, name);
    return known === undefined || isNewer(resourceVersion, known.resourceVersion);
  };
  const hasAll = async (namespace: string | undefined): Promise<boolean> => {
    const listed: unknown[] = [];
    const { signal, end } = startDeadline(listMs);
    try {
      for await (const { items } of listPages(client, {
        path: listPath(resource, namespace),
        pageSize,
        accept: metadataForms.list,
        signal,
      })) {
        listed.push(...items);
        if (listed.length > maxListed) return false;
      }
    } finally {
      end();
    }
    // The watch may not have delivered the latest changes yet, so an object counts as missing only if it is still missing after the list.
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

/** Runs `work` for all callers before it begins. Callers during a run share the next one, which begins after a rest. */
function shareNext<T>(work: () => Promise<T>, monotonicNow: () => number): () => Promise<T> {
  let next: Promise<T> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    if (next !== undefined) return next;
    const run = last.then(async () => {
      next = undefined;
      const startedAt = monotonicNow();
      const rest = () =>
        new Promise((resolve) => setTimeout(resolve, Math.min(maxRestMs, restFactor * (monotonicNow() - startedAt))).unref());
      const running = work();
      last = running.then(rest, rest);
      return running;
    });
    next = run;
    last = run;
    return run;
  };
}
