import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { describeError } from '../../core/model/errors.ts';
import { backoffMs, requestBackoff } from '../../core/async/backoff.ts';
import type { KubeClient } from './client.ts';
import { isKubeError, KubeError } from './kube-error.ts';
import { listPages, metadataForms } from './objects.ts';
import { isNewer } from '../../core/model/workload.ts';
import { outsideSpans } from '../telemetry/tracing.ts';
import { type ObjectName, type ObjectStore, type StoredObject } from './object-store.ts';
import { needsNewList, parseWatchEvent, readMetadata } from './watch-events.ts';

/** Keeps a store equal to a collection of the API server until it is stopped. */
export interface Reflector {
  /** Resolves after the first complete list; never rejects, and stays pending when stopped before. */
  readonly synced: Promise<void>;
  state(): ReflectorState;
  /** Opens a new watch, for callers that have seen a state that the watch has not reported. */
  reconnect(): void;
  stop(): Promise<void>;
}

/** The state of a reflector, for readiness pages and metrics. */
export interface ReflectorState {
  readonly synced: boolean;
  /** Whether a watch is open now. */
  readonly connected: boolean;
  /** The last error; absent once the reflector works again. */
  readonly lastError?: string;
  /** Whether the last error was a 403. */
  readonly isForbidden: boolean;
  /** The time since the last event of the watch, or since the last list began. All changes before that time are known. Undefined before the first list. */
  readonly quietMs?: number;
  readonly objects: number;
}

/** The collection to reflect, and the store. */
export interface ReflectorOptions<T extends StoredObject> {
  readonly client: KubeClient;
  /** The collection: `/apis/apps/v1/deployments`, or `…/namespaces/shop/deployments` for one namespace. */
  readonly path: string;
  /** Raw object → the object to store; undefined for objects to leave out. If it throws, the object is reported and skipped. */
  readonly project: (raw: unknown) => T | undefined;
  readonly store: ObjectStore<T>;
  /** Only objects that match this selector are read. */
  readonly fieldSelector?: string;
  readonly metadataOnly?: boolean;
  readonly pageSize?: number;
  readonly random?: () => number;
  /** The clock in milliseconds since 1970. */
  readonly now?: () => number;
  /** Called for each failure, with the pause until the next try. Without a pause, a single object was skipped. Must not throw. */
  readonly onError?: (error: unknown, nextTryMs: number | undefined) => void;
}

/** The longest time to process a list without yielding to the event loop. */
const sliceMs = 5;
// A watch that ends sooner than this counts as a failure, even without an error, because resuming it without a pause could loop.
const shortLifeMs = 1_000;
const maxRetryAfterMs = 60_000;
const maxRetryAfterFactor = 5;

/**
 * Lists in pages, then watches with bookmarks and resumes. Retries all failures with growing, jittered pauses. client-node's informer ends at the first 403,
 * 429 or reset, lists all objects in one response and has no bookmarks, and its Watch reads faster than its lines are processed.
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
  // The time is monotonic, because `quietMs` decides whether a watch is trusted.
  let lastEventAt: number | undefined;
  let reconnecting = new AbortController();

  const skip = (object: ObjectName, error: unknown) => {
    onError?.(new Error(`${path}: ${object.namespace}/${object.name} is skipped: ${describeError(error)}`, { cause: error }), undefined);
  };

  const list = async (): Promise<string> => {
    const objects: T[] = [];
    const unreadable: ObjectName[] = [];
    let listVersion = '';
    let sliceEnd = performance.now() + sliceMs;
    const yieldTurn = async () => {
      await nextTurn();
      sliceEnd = performance.now() + sliceMs;
    };
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
        // Objects are projected in slices. Each of hundreds may take milliseconds, because tenants control their content.
        if (performance.now() >= sliceEnd) await yieldTurn();
      }
    }
    const force = resourceVersion !== undefined && isNewer(resourceVersion, listVersion);
    try {
      // The store is replaced in slices, because a large list takes seconds to index.
      for (const _ of store.replaceInSteps({ objects, unreadable, resourceVersion: listVersion, namespace, force }))
        if (performance.now() >= sliceEnd) {
          await yieldTurn();
          if (signal.aborted) break;
        }
    } catch (error) {
      // A listener has a bug. The store itself is complete, and another list would not help.
      onError?.(error, undefined);
    }
    return listVersion;
  };

  const apply = (line: string): string => {
    const event = parseWatchEvent(path, line);
    lastEventAt = performance.now();
    try {
      const exists = event.type === 'ADDED' || event.type === 'MODIFIED';
      // The response to our own write was already stored in this version. Projecting it again would be half of the cost of a status update.
      if (exists && store.get(event.namespace, event.name)?.resourceVersion === event.resourceVersion) return event.resourceVersion;
      const object = exists ? project(event.object) : undefined;
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
    lastError = undefined;
  };

  const watch = async (): Promise<void> => {
    // The timeout is random, so that the watches of many replicas do not reconnect at the same time.
    const timeoutSeconds = 240 + Math.floor(random() * 121);
    const timeoutMs = (timeoutSeconds + 15) * 1000;
    reconnecting = new AbortController();
    const watchSignal = AbortSignal.any([signal, reconnecting.signal]);
    const query = { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds, fieldSelector };
    try {
      for await (const line of client.streamLines({
        method: 'GET',
        path,
        query,
        accept: accept?.object,
        timeoutMs,
        signal: watchSignal,
        onOpen,
      })) {
        resourceVersion = apply(line);
      }
    } finally {
      state = { ...state, connected: false };
    }
  };

  const run = async (): Promise<void> => {
    // Failures are counted separately for each kind. After a list has succeeded, a watch that finds it expired (410, at the start of an API server) is a first
    // failure; so is the 410 after the many 429 of an API server that has to read 100,000 objects before it can say that.
    const failures = { list: 0, watch: 0, version: 0 };
    let mustList = true;
    while (!signal.aborted) {
      openedAt = undefined;
      let failure: unknown;
      let failing: keyof typeof failures = 'list';
      try {
        if (mustList) {
          const listedAt = performance.now();
          resourceVersion = await list();
          if (signal.aborted) return;
          lastEventAt = listedAt;
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
        if (failing === 'watch' && needsNewList(error)) failing = 'version';
        mustList ||= needsNewList(error);
      }
      if (signal.aborted) return;
      const hasLived = openedAt !== undefined && now() - openedAt >= shortLifeMs;
      if (hasLived) Object.assign(failures, { watch: 0, version: 0 });
      if (hasLived && failure === undefined) continue;
      const pauseMs = pauseAfter(failure, backoffMs(failures[failing], random, requestBackoff));
      failures[failing] += 1;
      if (failure !== undefined) {
        lastError = failure;
        onError?.(failure, pauseMs);
      }
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };

  const running = outsideSpans(run);
  return {
    synced: firstList.promise,
    state: () => ({
      ...state,
      ...(lastError !== undefined && { lastError: explain(lastError) }),
      isForbidden: isKubeError(lastError, 403),
      ...(lastEventAt !== undefined && { quietMs: performance.now() - lastEventAt }),
      objects: store.size,
    }),
    reconnect: () => reconnecting.abort(),
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

/** The pause after a failure. If a server gives a time to come back, it is asked at most five times less often, however long it works on it. */
export function pauseAfter(error: unknown, backoffMs: number): number {
  const retryAfterMs = error instanceof KubeError ? Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs) : 0;
  return retryAfterMs === 0 ? backoffMs : Math.max(retryAfterMs, Math.min(backoffMs, retryAfterMs * maxRetryAfterFactor));
}
