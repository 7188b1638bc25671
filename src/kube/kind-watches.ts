import type { LabelSelector } from '../core/label-selector.ts';
import { kindKey, type KindRef, type Workload, type WorkloadRef } from '../core/workload.ts';
import { findBuiltIn } from './find-target.ts';
import type { KindState, WantedKind } from './kind-state.ts';
import { startKindWatch, type KindWatch, type KindWatchOptions, type Watched } from './kind-watch.ts';
import type { TargetKind } from './target-kind.ts';

/** The workloads of all kinds that policies name. A kind is watched from the first policy on that names it, and never holds up another. */
export interface KindWatches {
  /** Watches these as well. */
  want(kinds: readonly WantedKind[]): void;
  /** Watches nothing else any more. */
  keepOnly(kinds: Iterable<WantedKind>): void;
  state(kind: WantedKind, namespace: string): KindState;
  /** Resolves when each of them is ready or has failed once; never rejects. */
  settled(kinds: readonly WantedKind[]): Promise<void>;
  findWorkload(ref: WorkloadRef): Workload | undefined;
  /** At least those that the selector matches. */
  listWorkloads(kind: KindRef, namespace: string, selector?: LabelSelector): Iterable<Workload>;
  /** Takes over what the answer to an own request told. */
  observe(workload: Workload): void;
  /** How a kind is read and patched; throws where that is not known yet. */
  targetOf(kind: KindRef): TargetKind;
  /** For readiness and metrics. */
  watches(): readonly KindWatch[];
  readonly size: number;
  stop(): Promise<void>;
}

interface Entry {
  paths: ReadonlySet<string>;
  /** The latest one; what it replaces serves until it has settled. */
  watch: KindWatch;
  former?: KindWatch | undefined;
}

/** Watches nothing yet. */
export function createKindWatches(options: KindWatchOptions): KindWatches {
  const entries = new Map<string, Entry>();
  const stopping: Promise<unknown>[] = [];
  let stopped = false;

  const end = (watch: KindWatch | undefined) => {
    if (watch !== undefined) stopping.push(watch.stop());
  };
  const start = ({ apiVersion, kind }: KindRef, paths: ReadonlySet<string>): KindWatch =>
    startKindWatch({ ...(apiVersion !== undefined && { apiVersion }), kind }, [...paths], options);
  const retireFormer = async (entry: Entry, next: KindWatch): Promise<void> => {
    await next.settled();
    if (entry.watch !== next) return;
    end(entry.former);
    entry.former = undefined;
    // Whoever waited for what only this one reads waited for the former to give way.
    options.onReady();
  };
  const replace = (entry: Entry, paths: ReadonlySet<string>) => {
    const { watch } = entry;
    // Of two that are not done yet, the older one is worth nothing.
    if (entry.former === undefined) entry.former = watch;
    else end(watch);
    entry.paths = paths;
    const next = (entry.watch = start(watch.kind, paths));
    void retireFormer(entry, next);
  };
  const currentOf = (ref: KindRef): Watched | undefined => {
    const entry = entries.get(kindKey(ref));
    const latest = entry?.watch.current();
    return entry?.former === undefined ? latest : (entry.former.current() ?? latest);
  };
  const watches = () => [...entries.values()].flatMap(({ watch, former }) => (former === undefined ? [watch] : [watch, former]));

  return {
    want(kinds) {
      for (const kind of stopped ? [] : kinds) {
        const entry = entries.get(kindKey(kind));
        const paths = new Set([...(entry?.paths ?? []), ...(kind.fieldPaths ?? [])]);
        if (entry === undefined) entries.set(kindKey(kind), { paths, watch: start(kind, paths) });
        else if (paths.size > entry.paths.size) replace(entry, paths);
      }
    },
    keepOnly(kinds) {
      const wanted = new Set([...kinds].map(kindKey));
      for (const [key, { watch, former }] of entries) {
        if (wanted.has(key)) continue;
        entries.delete(key);
        for (const one of [watch, former]) end(one);
      }
    },
    state(kind, namespace) {
      const entry = entries.get(kindKey(kind));
      if (entry === undefined) return 'starting';
      const paths = kind.fieldPaths ?? [];
      const { watch, former } = entry;
      // The former one serves; what only the latest one reads is known when that has taken over.
      return (former?.current() === undefined ? watch : former).state(namespace, paths);
    },
    async settled(kinds) {
      await Promise.all(kinds.flatMap((kind) => entries.get(kindKey(kind))?.watch.settled() ?? []));
    },
    findWorkload: (ref) => currentOf(ref)?.store.get(ref.namespace, ref.name),
    listWorkloads: (kind, namespace, selector) => currentOf(kind)?.store.in(namespace, selector) ?? [],
    observe(workload) {
      currentOf(workload)?.store.observe(workload);
    },
    targetOf(kind) {
      const target = currentOf(kind)?.target ?? findBuiltIn(kind);
      if (target !== undefined) return target;
      throw new Error(`the API server has not told yet where the objects of ${kindKey(kind)} are`);
    },
    watches,
    get size() {
      return [...entries.values()].reduce((sum, { watch }) => sum + (watch.current()?.store.size ?? 0), 0);
    },
    async stop() {
      stopped = true;
      for (const watch of watches()) end(watch);
      entries.clear();
      await Promise.all(stopping);
    },
  };
}
