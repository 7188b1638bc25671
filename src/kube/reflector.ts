import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { describeError } from '../model/errors.ts';
import { backoffMs, requestBackoff } from '../async/backoff.ts';
import type { KubeClient } from './client.ts';
import { isKubeError, KubeError } from './kube-error.ts';
import { listPages } from './objects.ts';
import { isNewer } from '../model/workload.ts';
import { type ObjectName, type ObjectStore, type StoredObject } from './object-store.ts';
import { needsNewList, parseWatchEvent, readMetadata } from './watch-events.ts';

/** Keeps a store equal to a collection of the API server until it is stopped. */
export interface Reflector {
  /** Resolves after the first complete list; never rejects, and stays pending when stopped before. */
  readonly synced: Promise<void>;
  state(): ReflectorState;
  /** Opens the watch anew: for who knows better than a watch that says nothing. */
  reconnect(): void;
  stop(): Promise<void>;
}

/** How a reflector is doing, for readiness pages and metrics. */
export interface ReflectorState {
  readonly synced: boolean;
  /** A watch is open now. */
  readonly connected: boolean;
  /** What went wrong last; absent once it works again. */
  readonly lastError?: string;
  /** That was the API server's answer that this may not be asked. */
  readonly isForbidden: boolean;
  /** For how long the watch has said nothing; undefined before it has opened once. */
  readonly quietMs?: number;
  readonly objects: number;
}

/** What to reflect, and into which store. */
export interface ReflectorOptions<T extends StoredObject> {
  readonly client: KubeClient;
  /** The collection: `/apis/apps/v1/deployments`, or `…/namespaces/shop/deployments` for one namespace. */
  readonly path: string;
  /** Raw object → what is stored; undefined for objects that are not wanted. One that throws is reported and skipped. */
  readonly project: (raw: unknown) => T | undefined;
  readonly store: ObjectStore<T>;
  /** Only these objects. */
  readonly fieldSelector?: string;
  /** Reads the metadata of objects and nothing else of them. */
  readonly metadataOnly?: boolean;
  readonly pageSize?: number;
  readonly random?: () => number;
  /** The clock in milliseconds since 1970. */
  readonly now?: () => number;
  /** Each failure with the pause until the next try; without a pause a single object was skipped. Must not throw. */
  readonly onError?: (error: unknown, nextTryMs: number | undefined) => void;
}

/** So long the objects of a list are read until the event loop goes on. */
const sliceMs = 5;
// A watch that ends sooner than this is a failure, also when it ends without an error: resuming at once would spin.
const shortLifeMs = 1_000;
const maxRetryAfterMs = 60_000;
const metadataForms = {
  list: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  watch: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
} as const;

/**
 * Lists in pages, then watches with bookmarks and resumes; repeats whatever fails with growing, jittered pauses. client-node's informer gives up at the
 * first 403, 429 or reset.
 */
export function startReflector<T extends StoredObject>(options: ReflectorOptions<T>): Reflector {
  const { client, path, project, store, fieldSelector, pageSize = 500, random = Math.random, now = Date.now, onError } = options;
  const accept = options.metadataOnly === true ? metadataForms : undefined;
  const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
  const stopping = new AbortController();
  const { signal } = stopping;
  const firstList = Promise.withResolvers<void>();
  let resourceVersion: string | undefined;
  let state: Omit<ReflectorState, 'objects' | 'lastError' | 'isForbidden' | 'quietMs'> = { synced: false, connected: false };
  let lastError: unknown;
  let openedAt: number | undefined;
  // On a clock that nobody sets: `quietMs` decides whether a watch is trusted.
  let heardAt: number | undefined;
  let cut = new AbortController();

  const skip = (object: ObjectName, error: unknown) => {
    onError?.(new Error(`${path}: ${object.namespace}/${object.name} is skipped: ${describeError(error)}`, { cause: error }), undefined);
  };

  const list = async (): Promise<string> => {
    const objects: T[] = [];
    const unreadable: ObjectName[] = [];
    let listVersion = '';
    let sliceEnd = performance.now() + sliceMs;
    for await (const page of listPages(client, { path, pageSize, fieldSelector, accept: accept?.list, signal })) {
      listVersion = page.resourceVersion;
      for (const raw of page.items) {
        try {
          const object = project(raw);
          if (object) objects.push(object);
        } catch (error) {
          unreadable.push(readMetadata(raw));
          skip(readMetadata(raw), error);
        }
        // What tenants wrote may take milliseconds to read, each of hundreds.
        if (performance.now() < sliceEnd) continue;
        await nextTurn();
        sliceEnd = performance.now() + sliceMs;
      }
    }
    const force = resourceVersion !== undefined && isNewer(resourceVersion, listVersion);
    try {
      store.replace({ objects, unreadable, resourceVersion: listVersion, namespace, force });
    } catch (error) {
      // A listener's bug: the store itself is complete, and listing again would not mend it.
      onError?.(error, undefined);
    }
    return listVersion;
  };

  const take = (line: string): string => {
    const event = parseWatchEvent(path, line);
    heardAt = performance.now();
    try {
      const isThere = event.type === 'ADDED' || event.type === 'MODIFIED';
      // The answer to an own write told it already: reading it once more is half of what a status costs us.
      if (isThere && store.get(event.namespace, event.name)?.resourceVersion === event.resourceVersion) return event.resourceVersion;
      const object = isThere ? project(event.object) : undefined;
      if (object) store.put(object);
      else if (event.type !== 'BOOKMARK') store.remove(event);
    } catch (error) {
      skip(event, error);
    }
    return event.resourceVersion;
  };

  const onOpen = () => {
    state = { ...state, connected: true };
    openedAt = now();
    heardAt = performance.now();
    lastError = undefined;
  };

  const watch = async (): Promise<void> => {
    // Random, so that the watches of many replicas do not all reconnect together.
    const timeoutSeconds = 240 + Math.floor(random() * 121);
    const timeoutMs = (timeoutSeconds + 15) * 1000;
    cut = new AbortController();
    const ending = AbortSignal.any([signal, cut.signal]);
    const query = { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds, fieldSelector };
    try {
      for await (const line of client.streamLines({
        method: 'GET',
        path,
        query,
        accept: accept?.watch,
        timeoutMs,
        signal: ending,
        onOpen,
      })) {
        resourceVersion = take(line);
      }
    } finally {
      state = { ...state, connected: false };
    }
  };

  const run = async (): Promise<void> => {
    // Counted apart: when the list has come at last, a watch that finds it outdated (410, at the start of a server) is a first failure.
    const failures = { list: 0, watch: 0 };
    let mustList = true;
    while (!signal.aborted) {
      openedAt = undefined;
      let failure: unknown;
      let failing: keyof typeof failures = 'list';
      try {
        if (mustList) {
          resourceVersion = await list();
          failures.list = 0;
          mustList = false;
          lastError = undefined;
          state = { ...state, synced: true };
          firstList.resolve();
        }
        failing = 'watch';
        await watch();
      } catch (error) {
        failure = error;
        mustList ||= needsNewList(error);
      }
      if (signal.aborted) return;
      const hasLived = openedAt !== undefined && now() - openedAt >= shortLifeMs;
      if (hasLived) failures.watch = 0;
      if (hasLived && failure === undefined) continue;
      const pauseMs = Math.max(backoffMs(failures[failing], random, requestBackoff), retryAfterOf(failure));
      failures[failing] += 1;
      if (failure !== undefined) {
        lastError = failure;
        onError?.(failure, pauseMs);
      }
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };

  const running = run();
  return {
    synced: firstList.promise,
    state: () => ({
      ...state,
      ...(lastError !== undefined && { lastError: explain(lastError) }),
      isForbidden: isKubeError(lastError, 403),
      ...(heardAt !== undefined && { quietMs: performance.now() - heardAt }),
      objects: store.size,
    }),
    reconnect: () => cut.abort(),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function explain(error: unknown): string {
  const hint = isKubeError(error, 404) ? ' (the API server does not know this kind: is its CustomResourceDefinition installed?)' : '';
  return `${describeError(error)}${hint}`;
}

function retryAfterOf(error: unknown): number {
  return error instanceof KubeError ? Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs) : 0;
}
