import { defined } from '../../core/model/defined.ts';
import type { LabelSelector } from '../../core/model/label-selector.ts';
import { kindKey, type KindRef, type Workload, type WorkloadRef } from '../../core/model/workload.ts';
import { findBuiltIn, type TargetKind } from '../kube/targets.ts';
import { type KindState, type KindWatch, type KindWatchOptions, startKindWatch, type Watched } from './kind-watch.ts';

/** The watches of all kinds that policies name. The first policy that names a kind starts its watch, and no kind waits for another. */
export interface KindWatches {
  /** Starts the watches of these kinds. */
  startWatches(kinds: readonly KindRef[]): void;
  /** Discovers these kinds again without a pause, if the API server did not serve them. */
  retry(kinds: readonly KindRef[]): void;
  /** Discovers the kinds of an API group again without a pause, if the API server did not serve them. */
  rediscover(group: string): void;
  /** Stops the watches of all other kinds. */
  keepOnly(kinds: Iterable<KindRef>): void;
  state(kind: KindRef, namespace: string): KindState;
  /** Resolves when each of these kinds is listed or has failed once; never rejects. */
  synced(kinds: readonly KindRef[]): Promise<void>;
  findWorkload(ref: WorkloadRef): Workload | undefined;
  /** The workloads of a kind in a namespace; with a selector, at least those that it matches. */
  listWorkloads(kind: KindRef, namespace: string, selector?: LabelSelector, annotated?: 'annotated'): Iterable<Workload>;
  /** The workloads of all kinds that are watched, in all namespaces. */
  values(): Workload[];
  /** Stores the response to one of our own requests. */
  observe(workload: Workload): void;
  /** Where to find the objects of a kind; throws if that is not known yet. */
  targetOf(kind: KindRef): TargetKind;
  /** The watches, for readiness and metrics. */
  watches(): readonly KindWatch[];
  readonly size: number;
  stop(): Promise<void>;
}

/** Creates an empty set of watches. */
export function createKindWatches(options: KindWatchOptions): KindWatches {
  const watches = new Map<string, KindWatch>();
  const stopping: Promise<unknown>[] = [];
  let stopped = false;
  const currentOf = (ref: KindRef): Watched | undefined => watches.get(kindKey(ref))?.current();

  return {
    startWatches(kinds) {
      for (const { apiVersion, kind } of stopped ? [] : kinds) {
        const ref = { ...defined({ apiVersion }), kind };
        if (!watches.has(kindKey(ref))) watches.set(kindKey(ref), startKindWatch(ref, options));
      }
    },
    retry(kinds) {
      for (const kind of kinds) watches.get(kindKey(kind))?.retry();
    },
    rediscover(group) {
      options.discovery.forget(group);
      for (const watch of watches.values()) if (watch.kind.apiVersion?.startsWith(`${group}/`) === true) watch.retry();
    },
    keepOnly(kinds) {
      const wanted = new Set([...kinds].map(kindKey));
      for (const [key, watch] of watches) {
        if (wanted.has(key)) continue;
        watches.delete(key);
        stopping.push(watch.stop());
      }
    },
    state: (kind, namespace) => watches.get(kindKey(kind))?.state(namespace) ?? 'starting',
    async synced(kinds) {
      await Promise.all(kinds.flatMap((kind) => watches.get(kindKey(kind))?.synced() ?? []));
    },
    findWorkload: (ref) => currentOf(ref)?.store.get(ref.namespace, ref.name),
    listWorkloads: (kind, namespace, selector, annotated) => currentOf(kind)?.store.in(namespace, selector, annotated) ?? [],
    values: () => [...watches.values()].flatMap((watch) => [...(watch.current()?.store.values() ?? [])]),
    observe(workload) {
      currentOf(workload)?.store.observe(workload);
    },
    targetOf(kind) {
      const target = currentOf(kind)?.target ?? findBuiltIn(kind);
      if (target !== undefined) return target;
      throw new Error(`${kindKey(kind)} has not been discovered yet`);
    },
    watches: () => [...watches.values()],
    get size() {
      return [...watches.values()].reduce((sum, watch) => sum + (watch.current()?.store.size ?? 0), 0);
    },
    async stop() {
      stopped = true;
      for (const watch of watches.values()) stopping.push(watch.stop());
      watches.clear();
      await Promise.all(stopping);
    },
  };
}
