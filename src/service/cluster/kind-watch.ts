import { setTimeout as delay } from 'node:timers/promises';
import { PermanentError } from '../../core/model/errors.ts';
import type { TargetProblem } from '../../core/plan/plan-update.ts';
import { targetNotWatched } from '../../core/model/policy-defaults.ts';
import { kindKey, type KindRef, type Workload } from '../../core/model/workload.ts';
import { backoffMs, requestBackoff } from '../../core/async/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Discovery, discoveryFreshMs } from '../kube/discovery.ts';
import type { TargetKind } from '../kube/targets.ts';
import { isKubeError } from '../kube/kube-error.ts';
import type { ObjectChange } from '../kube/object-store.ts';
import { isWanted, projectWorkload } from '../kube/project-workload.ts';
import { type Reflector, startReflector } from '../kube/reflector.ts';
import { listPath } from '../kube/objects.ts';
import { outsideSpans } from '../telemetry/tracing.ts';
import { createWorkloadStore, type WorkloadStore } from './workload-store.ts';

/** The options that all watches of workloads share. */
export interface KindWatchOptions {
  readonly client: KubeClient;
  readonly discovery: Discovery;
  /** The namespaces, with one reflector for each; undefined means all namespaces. */
  readonly namespaces: readonly (string | undefined)[];
  readonly onChange: (change: ObjectChange<Workload>) => void;
  /** Called when the workloads of a kind have been listed, in all namespaces or in one. */
  readonly onReady: () => void;
  readonly onError: (error: unknown, nextTryMs: number | undefined) => void;
  readonly now: () => number;
  readonly random: () => number;
}

/** The watch of one kind, and its workloads. */
export interface KindWatch {
  readonly kind: KindRef;
  /** The workloads; undefined before the kind is discovered. */
  current(): Watched | undefined;
  state(namespace: string): KindState;
  /** Discovers the kind again without a pause if the API server did not serve it, because it may have been installed since. */
  retry(): void;
  /** Resolves when the kind is listed or its list has failed once; never rejects. */
  synced(): Promise<unknown>;
  stop(): Promise<void>;
}

export interface Watched {
  readonly target: TargetKind;
  readonly store: WorkloadStore;
  readonly reflectors: readonly Reflector[];
  /** What each of the reflectors reads. */
  readonly scopes: readonly WatchScope[];
}

/** What a reflector reads: all objects of a namespace or (undefined) of the cluster, or one of them by its name. */
export interface WatchScope {
  readonly namespace: string | undefined;
  readonly name?: string;
}

interface NamespaceWatch {
  readonly namespace: string | undefined;
  readonly reflector: Reflector;
  since?: number;
  problem?: TargetProblem;
}

const firstPeriodMs = 10_000;
const longestPeriodMs = 320_000;

/**
 * The pause before a kind that the API server does not serve is discovered again, since its definition may be installed at any time: 10 s, then twice as long each
 * time, up to 320 s. All kinds are discovered at the same moments, so that they share the responses.
 */
export function rediscoveryPauseMs(attempt: number, now: number): number {
  const period = Math.min(longestPeriodMs, firstPeriodMs * 2 ** Math.min(attempt, 10));
  return Math.ceil((now + discoveryFreshMs) / period) * period - now;
}

/** Starts the watch of a kind: discovers the kind, lists it and watches it. Retries after every failure. */
export function startKindWatch(kind: KindRef, options: KindWatchOptions): KindWatch {
  const { client, discovery, namespaces, onChange, onReady, onError, now, random } = options;
  const stopping = new AbortController();
  const firstResult = Promise.withResolvers<void>();
  let watched: Watched | undefined;
  let parts: NamespaceWatch[] = [];
  let problem: TargetProblem | undefined;
  let attempts = 0;
  let pause = new AbortController();

  const fail = (error: unknown): number => {
    const isKnown = error instanceof PermanentError && error.message === problem?.message;
    if (error instanceof PermanentError) problem = { reason: error.reason, message: error.message };
    const pauseMs = error instanceof PermanentError ? rediscoveryPauseMs(attempts++, now()) : backoffMs(attempts++, random, requestBackoff);
    // The same problem is reported only once, instead of every few minutes.
    if (!isKnown) onError(error, pauseMs);
    return pauseMs;
  };

  const onFirstList = async (part: NamespaceWatch): Promise<void> => {
    await part.reflector.synced;
    attempts = 0;
    part.since = now();
    onReady();
  };

  const startWatching = (target: TargetKind, gone: () => void): void => {
    const store = createWorkloadStore();
    store.subscribe(onChange);
    const results: Promise<void>[] = [];
    const scopes = scopesOf(target, namespaces);
    parts = scopes.map(({ namespace, name }) => {
      const failed = Promise.withResolvers<void>();
      const reflector = startReflector({
        client,
        path: listPath(target, namespace),
        ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
        project: (raw) => (isWanted(target, raw) ? projectWorkload(target, raw) : undefined),
        store,
        now,
        random,
        onError(error, nextTryMs) {
          onError(error, nextTryMs);
          if (nextTryMs === undefined) return;
          const found = problemOf(error, target);
          if (found !== undefined) part.problem = found;
          failed.resolve();
          if (kind.apiVersion !== undefined && isKubeError(error, 404)) gone();
        },
      });
      const part: NamespaceWatch = { namespace, reflector };
      results.push(Promise.race([onFirstList(part), failed.promise]));
      return part;
    });
    watched = { target, store, reflectors: parts.map(({ reflector }) => reflector), scopes };
    void resolveAfter(results);
  };

  const resolveAfter = async (results: readonly Promise<void>[]): Promise<void> => {
    await Promise.all(results);
    firstResult.resolve();
  };

  const stopWatching = async (): Promise<void> => {
    const old = parts;
    [watched, parts] = [undefined, []];
    await Promise.all(old.map(({ reflector }) => reflector.stop()));
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      let pauseMs: number;
      pause = new AbortController();
      try {
        const target = await discovery.find(kind, stopping.signal);
        problem = undefined;
        const gone = Promise.withResolvers<void>();
        stopping.signal.addEventListener('abort', () => gone.resolve(), { once: true });
        startWatching(target, gone.resolve);
        await gone.promise;
        await stopWatching();
        // Discovery is repeated after a pause, because it still shows a deleted definition for a moment.
        pauseMs = backoffMs(attempts++, random, requestBackoff);
      } catch (error) {
        if (stopping.signal.aborted) return;
        pauseMs = fail(error);
        firstResult.resolve();
      }
      const signal = AbortSignal.any([stopping.signal, pause.signal]);
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };

  const running = outsideSpans(run);
  return {
    kind,
    current: () => watched,
    state(namespace) {
      if (problem !== undefined) return { problem };
      if (!namespaces.some((one) => one === undefined || one === namespace))
        return { problem: { reason: 'TargetNotFound', message: targetNotWatched(namespace) } };
      return stateOf(parts.filter((one) => one.namespace === undefined || one.namespace === namespace));
    },
    synced: () => firstResult.promise,
    retry() {
      if (problem === undefined) return;
      attempts = 0;
      pause.abort();
    },
    async stop() {
      stopping.abort(new Error(`the watch of ${kindKey(kind)} is stopped`));
      await running;
      await stopWatching();
      firstResult.resolve();
    },
  };
}

/**
 * The state of a kind in a namespace. `starting`: its workloads have not been listed yet, so none may be reported missing · `since`: when they were listed ·
 * `problem`: why the kind cannot be watched.
 */
export type KindState = 'starting' | { readonly since: number } | { readonly problem: TargetProblem };

/** What a watch of a kind reads. Single objects are watched by their names, which is all that permissions for them allow. */
function scopesOf({ objects }: TargetKind, namespaces: readonly (string | undefined)[]): readonly WatchScope[] {
  if (objects === undefined) return namespaces.map((namespace) => ({ namespace }));
  return objects.filter(({ namespace }) => namespaces.some((one) => one === undefined || one === namespace));
}

/** The state of all watches of a namespace. Where single objects are watched, the last that was listed counts. */
function stateOf(parts: readonly NamespaceWatch[]): KindState {
  const open = parts.find(({ since }) => since === undefined);
  if (open?.problem !== undefined) return { problem: open.problem };
  const times = parts.flatMap(({ since }) => since ?? []);
  return open !== undefined || times.length === 0 ? 'starting' : { since: Math.max(...times) };
}

/** The problem to report to policies when a list or watch fails; undefined if it may resolve itself. */
function problemOf(error: unknown, { apiVersion, resource }: TargetKind): TargetProblem | undefined {
  if (!isKubeError(error, 403)) return undefined;
  const group = apiVersion.includes('/') ? ` in API group "${apiVersion.split('/')[0]}"` : '';
  const message = `not permitted: grant image-watcher the verbs "list" and "watch" on "${resource}"${group}: ${error.detail}`;
  return { reason: 'TargetKindForbidden', message };
}
