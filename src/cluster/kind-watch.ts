import { setTimeout as delay } from 'node:timers/promises';
import { PermanentError } from '../model/errors.ts';
import type { TargetProblem } from '../plan/plan-update.ts';
import { kindKey, type KindRef, type Workload } from '../model/workload.ts';
import { backoffMs, requestBackoff } from '../async/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Discovery, discoveryFreshMs } from '../kube/discovery.ts';
import { findTarget, type TargetKind } from '../kube/targets.ts';
import { isKubeError } from '../kube/kube-error.ts';
import type { ObjectChange } from '../kube/object-store.ts';
import { isWanted, projectWorkload } from '../kube/project-workload.ts';
import { type Reflector, startReflector } from '../kube/reflector.ts';
import { listPath } from '../kube/objects.ts';
import { createWorkloadStore, type WorkloadStore } from './workload-store.ts';

/** What all watches of workloads have in common. */
export interface KindWatchOptions {
  readonly client: KubeClient;
  readonly discovery: Discovery;
  /** One reflector for each; undefined stands for all namespaces. */
  readonly namespaces: readonly (string | undefined)[];
  readonly onChange: (change: ObjectChange<Workload>) => void;
  /** The workloads of a kind are known now, in all namespaces or in one. */
  readonly onReady: () => void;
  readonly onError: (error: unknown, nextTryMs: number | undefined) => void;
  readonly now: () => number;
  readonly random: () => number;
}

/** Keeps the workloads of one kind. */
export interface KindWatch {
  readonly kind: KindRef;
  /** What serves questions; undefined before the kind is found. */
  current(): Watched | undefined;
  state(namespace: string): KindState;
  /** Asks for the kind at once, where the API server does not know it: somebody may have installed it. */
  retry(): void;
  /** Resolves when it is ready or has failed once; never rejects. */
  settled(): Promise<unknown>;
  stop(): Promise<void>;
}

export interface Watched {
  readonly target: TargetKind;
  readonly store: WorkloadStore;
  readonly reflectors: readonly Reflector[];
}

interface Place {
  readonly namespace: string | undefined;
  readonly reflector: Reflector;
  since?: number;
  problem?: TargetProblem;
}

const firstPeriodMs = 10_000;
const longestPeriodMs = 320_000;

/**
 * The pause before a kind that the API server does not know is asked for again, since its definition may be installed any time: after 10 s, then twice as long
 * each time up to some 5 minutes. All kinds ask at the same moments, so that what the API server says to one of them serves all.
 */
export function rediscoveryPauseMs(attempt: number, now: number): number {
  const period = Math.min(longestPeriodMs, firstPeriodMs * 2 ** Math.min(attempt, 10));
  return Math.ceil((now + discoveryFreshMs) / period) * period - now;
}

/** Finds the kind, lists it and follows it. Every problem is looked at again by itself. */
export function startKindWatch(kind: KindRef, options: KindWatchOptions): KindWatch {
  const { client, discovery, namespaces, onChange, onReady, onError, now, random } = options;
  const stopping = new AbortController();
  const firstResult = Promise.withResolvers<void>();
  let watched: Watched | undefined;
  let places: Place[] = [];
  let problem: TargetProblem | undefined;
  let attempts = 0;
  let pause = new AbortController();

  const find = async (): Promise<TargetKind> => {
    const { apiVersion } = kind;
    return apiVersion === undefined ? findTarget(kind) : discovery.find({ ...kind, apiVersion }, stopping.signal);
  };
  const fail = (error: unknown): number => {
    const isKnown = error instanceof PermanentError && error.message === problem?.message;
    if (error instanceof PermanentError) problem = { reason: error.reason, message: error.message };
    const pauseMs = error instanceof PermanentError ? rediscoveryPauseMs(attempts++, now()) : backoffMs(attempts++, random, requestBackoff);
    // What was said once is not said again every few minutes for as long as the policy stays as it is.
    if (!isKnown) onError(error, pauseMs);
    return pauseMs;
  };

  const noteFirstList = async (place: Place): Promise<void> => {
    await place.reflector.synced;
    attempts = 0;
    place.since = now();
    onReady();
  };

  const follow = (target: TargetKind, gone: () => void): void => {
    const store = createWorkloadStore();
    store.subscribe(onChange);
    const results: Promise<void>[] = [];
    places = namespaces.map((namespace) => {
      const failed = Promise.withResolvers<void>();
      const reflector = startReflector({
        client,
        path: listPath(target, namespace),
        project: (raw) => (isWanted(target, raw) ? projectWorkload(target, raw) : undefined),
        store,
        now,
        random,
        onError(error, nextTryMs) {
          onError(error, nextTryMs);
          if (nextTryMs === undefined) return;
          const found = problemOf(error, target);
          if (found !== undefined) place.problem = found;
          failed.resolve();
          if (kind.apiVersion !== undefined && isKubeError(error, 404)) gone();
        },
      });
      const place: Place = { namespace, reflector };
      results.push(Promise.race([noteFirstList(place), failed.promise]));
      return place;
    });
    watched = { target, store, reflectors: places.map(({ reflector }) => reflector) };
    void settle(results);
  };

  const settle = async (results: readonly Promise<void>[]): Promise<void> => {
    await Promise.all(results);
    firstResult.resolve();
  };

  const unfollow = async (): Promise<void> => {
    const old = places;
    [watched, places] = [undefined, []];
    await Promise.all(old.map(({ reflector }) => reflector.stop()));
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      let pauseMs: number;
      pause = new AbortController();
      try {
        const target = await find();
        problem = undefined;
        const gone = Promise.withResolvers<void>();
        stopping.signal.addEventListener('abort', () => gone.resolve(), { once: true });
        follow(target, gone.resolve);
        await gone.promise;
        await unfollow();
        // A definition that was just deleted is told for a moment longer.
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

  const running = run();
  return {
    kind,
    current: () => watched,
    state(namespace) {
      if (problem !== undefined) return { problem };
      if (!namespaces.some((one) => one === undefined || one === namespace)) return { problem: notWatched(namespace) };
      const place = places.find((one) => one.namespace === undefined || one.namespace === namespace);
      if (place?.since !== undefined) return { since: place.since };
      return place?.problem === undefined ? 'starting' : { problem: place.problem };
    },
    settled: () => firstResult.promise,
    retry() {
      if (problem === undefined) return;
      attempts = 0;
      pause.abort();
    },
    async stop() {
      stopping.abort(new Error(`the watch of ${kindKey(kind)} is stopped`));
      await running;
      await unfollow();
      firstResult.resolve();
    },
  };
}

function notWatched(namespace: string): TargetProblem {
  const message = `the configuration's watch.namespaces does not have ${namespace}: add it, or move the target`;
  return { reason: 'TargetNotFound', message };
}

/**
 * What is known of a kind in a namespace: `starting`: its workloads have not been listed yet, so nothing may be said of them · `ready` since that time ·
 * or why it cannot be watched.
 */
export type KindState = 'starting' | { readonly since: number } | { readonly problem: TargetProblem };

/** What a failure of a list or a watch means for the policies that name the kind; undefined where it passes by itself. */
export function problemOf(error: unknown, { apiVersion, resource }: TargetKind): TargetProblem | undefined {
  if (!isKubeError(error, 403)) return undefined;
  const group = apiVersion.includes('/') ? ` in API group "${apiVersion.split('/')[0]}"` : '';
  const message = `not permitted: grant image-watcher the verbs "list" and "watch" on "${resource}"${group}: ${error.detail}`;
  return { reason: 'TargetKindForbidden', message };
}
