import type { LabelSelector } from '../model/label-selector.ts';
import { kindKey, type KindRef, type Workload, type WorkloadRef } from '../model/workload.ts';
import { findBuiltIn, type TargetKind } from '../kube/targets.ts';
import { type KindState, type KindWatch, type KindWatchOptions, startKindWatch, type Watched } from './kind-watch.ts';

/** The workloads of all kinds that policies name. A kind is watched from the first policy on that names it, and never holds up another. */
export interface KindWatches {
  /** Watches these as well. */
  want(kinds: readonly KindRef[]): void;
  /** Asks for these at once, where the API server does not know them. */
  retry(kinds: readonly KindRef[]): void;
  /** Watches nothing else any more. */
  keepOnly(kinds: Iterable<KindRef>): void;
  state(kind: KindRef, namespace: string): KindState;
  /** Resolves when each of them is ready or has failed once; never rejects. */
  settled(kinds: readonly KindRef[]): Promise<void>;
  findWorkload(ref: WorkloadRef): Workload | undefined;
  /** At least those that the selector matches. */
  listWorkloads(kind: KindRef, namespace: string, selector?: LabelSelector, answering?: 'answering'): Iterable<Workload>;
  /** Takes over what the answer to an own request told. */
  observe(workload: Workload): void;
  /** How a kind is read and patched; throws where that is not known yet. */
  targetOf(kind: KindRef): TargetKind;
  /** For readiness and metrics. */
  watches(): readonly KindWatch[];
  readonly size: number;
  stop(): Promise<void>;
}

/** Watches nothing yet. */
export function createKindWatches(options: KindWatchOptions): KindWatches {
  const watches = new Map<string, KindWatch>();
  const stopping: Promise<unknown>[] = [];
  let stopped = false;
  const currentOf = (ref: KindRef): Watched | undefined => watches.get(kindKey(ref))?.current();

  return {
    want(kinds) {
      for (const { apiVersion, kind } of stopped ? [] : kinds) {
        const ref = { ...(apiVersion !== undefined && { apiVersion }), kind };
        if (!watches.has(kindKey(ref))) watches.set(kindKey(ref), startKindWatch(ref, options));
      }
    },
    retry(kinds) {
      for (const kind of kinds) watches.get(kindKey(kind))?.retry();
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
    async settled(kinds) {
      await Promise.all(kinds.flatMap((kind) => watches.get(kindKey(kind))?.settled() ?? []));
    },
    findWorkload: (ref) => currentOf(ref)?.store.get(ref.namespace, ref.name),
    listWorkloads: (kind, namespace, selector, answering) => currentOf(kind)?.store.in(namespace, selector, answering) ?? [],
    observe(workload) {
      currentOf(workload)?.store.observe(workload);
    },
    targetOf(kind) {
      const target = currentOf(kind)?.target ?? findBuiltIn(kind);
      if (target !== undefined) return target;
      throw new Error(`the API server has not told yet where the objects of ${kindKey(kind)} are`);
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
