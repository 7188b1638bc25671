/**
 * Restarts the workloads that the operator names for a ConfigMap, once for each change of it. Nothing is remembered: the ConfigMap records the change, and each workload
 * for which changes it was restarted. So the comparison is made at each change, at each start and each minute, by every replica, and a crash between the change and the restart does no harm.
 */
import { backoffMs, requestBackoff } from '../../core/async/backoff.ts';
import {
  configMapKind,
  heldChanges,
  isRestartedFor,
  restartedBy,
  type HeldChange,
  type NamedConfigMap,
  type Restart,
} from '../../core/model/config-map-target.ts';
import { describeError, PermanentError } from '../../core/model/errors.ts';
import { formatWorkload, workloadKey, type Workload, type WorkloadRef } from '../../core/model/workload.ts';
import type { WorkloadChange } from './enqueue/enqueue-new-targets.ts';
import type { ClusterView, Report } from './ports.ts';

export interface RestartPorts {
  readonly cluster: Pick<ClusterView, 'findWorkload' | 'now'>;
  readonly restart: (
    workload: WorkloadRef,
    restart: { readonly changes: readonly HeldChange[]; readonly at: Date },
    signal: AbortSignal,
  ) => Promise<Restart>;
  readonly report: Pick<Report, 'recordEvent' | 'logger'>;
}

/** Restarts what is configured by ConfigMaps. */
export interface Restarter {
  /** Compares the workloads of a ConfigMap with its changes, and restarts those that have not been restarted for them; never rejects. */
  consider(configMap: Workload): void;
  /** Resolves when no comparison is under way. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

const maxTries = 6;
/** The shortest time between two restarts of a workload by this process. Changes that follow each other share a restart, and whoever may write a ConfigMap and its records causes no more. */
const minPauseMs = 5_000;

/** Creates a restarter. A restart that fails is tried again with growing pauses, and then with the next comparison. */
export function createRestarter(ports: RestartPorts, pause: (ms: number, signal: AbortSignal) => Promise<void>): Restarter {
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  /** What was compared, until something else is to be. */
  const again = new Set<string>();

  /** When a workload was last restarted here, by its key. The operator names few. */
  const restartedAt = new Map<string, number>();
  /** The changes of a ConfigMap that a workload was last restarted for here. Where something removes our record from the workload, each restart would else lead to the next. */
  const done = new Map<string, string>();

  const restartOne = async (ref: WorkloadRef, configMap: WorkloadRef): Promise<void> => {
    const key = workloadKey(ref);
    for (let tries = 0; tries < maxTries; tries++) {
      if (changesFor(ref, configMap) === undefined) return;
      const waitMs = (restartedAt.get(key) ?? -Infinity) + minPauseMs - ports.cluster.now();
      // A clock that was set back must not hold up restarts.
      if (waitMs > 0) await pause(Math.min(waitMs, minPauseMs), stopping.signal);
      const due = changesFor(ref, configMap);
      if (due === undefined) return;
      const { current, changes } = due;
      try {
        const result = await ports.restart(ref, { changes, at: new Date(ports.cluster.now()) }, stopping.signal);
        if (result === 'restarted') {
          restartedAt.set(key, ports.cluster.now());
          done.set(pairOf(ref, configMap), whatOf(changes));
          report(ref, current, { restarted: changes });
        }
        if (result !== 'changed') return;
      } catch (error) {
        if (stopping.signal.aborted) return;
        report(ref, current, { error });
        if (error instanceof PermanentError) return;
      }
      await pause(backoffMs(tries, Math.random, requestBackoff), stopping.signal);
    }
  };

  /** The ConfigMap as it is now, and the changes that a workload is to be restarted for; undefined if there are none. */
  const changesFor = (ref: WorkloadRef, configMap: WorkloadRef) => {
    const { findWorkload } = ports.cluster;
    const current = findWorkload(configMap);
    const changes = current === undefined ? [] : heldChanges(current);
    if (current === undefined || isRestartedFor(changes, findWorkload(ref)?.restartedFor)) return undefined;
    return done.get(pairOf(ref, configMap)) === whatOf(changes) ? undefined : { current, changes };
  };

  const report = (
    ref: WorkloadRef,
    configMap: Workload,
    result: { readonly restarted: readonly HeldChange[] } | { readonly error: unknown },
  ): void => {
    const workload = workloadKey(ref);
    if ('restarted' in result) {
      const why = result.restarted.map(({ key, what }) => `${key}: ${what}`).join(', ');
      return ports.report.logger.info({ workload, why }, 'workload restarted after a change');
    }
    const why = describeError(result.error);
    ports.report.logger.warn({ workload, why }, 'restart after a change failed, will be repeated');
    if (result.error instanceof PermanentError) {
      const message = `${formatWorkload(ref)} is not restarted: ${why}`;
      const event = { type: 'Warning', reason: result.error.reason, action: 'Restart', message, atMostHourly: true } as const;
      ports.report.recordEvent({ regarding: configMap, ...event });
    }
  };

  const run = async (configMap: Workload): Promise<void> => {
    const key = workloadKey(configMap);
    do {
      again.delete(key);
      for (const ref of restartedBy(configMap)) await restartOne(ref, configMap).catch(() => undefined);
    } while (again.has(key) && !stopping.signal.aborted);
    running.delete(key);
  };

  return {
    consider(configMap) {
      const key = workloadKey(configMap);
      if (configMap.restarts === undefined || stopping.signal.aborted) return;
      if (running.has(key)) again.add(key);
      else running.set(key, run(configMap));
    },
    async idle() {
      await Promise.all(running.values());
    },
    async stop() {
      stopping.abort(new Error('the restarts are stopped'));
      await Promise.all(running.values());
    },
  };
}

function pairOf(workload: WorkloadRef, configMap: WorkloadRef): string {
  return `${workloadKey(workload)} ${workloadKey(configMap)}`;
}

function whatOf(changes: readonly HeldChange[]): string {
  return JSON.stringify(changes.map(({ key, what }) => [key, what]));
}

/** What leads to a comparison of workloads with the ConfigMaps that the operator names. */
export interface RestartListener {
  /** Considers a changed ConfigMap, and those for which a changed workload is restarted. */
  onWorkload(change: WorkloadChange): void;
  /** Considers all of them, because a restart may have failed for good, or a process may have died before it. */
  resync(): void;
}

/** Creates the listener. What happens to a restarted workload is the rollout of its ConfigMap, with which `onRollout` is called. */
export function createRestartListener(
  named: readonly NamedConfigMap[],
  { findWorkload }: Pick<ClusterView, 'findWorkload'>,
  restarter: Pick<Restarter, 'consider'>,
  onRollout: (change: WorkloadChange) => void,
): RestartListener {
  const configMaps = configMapsByWorkload(named);
  return {
    onWorkload({ type, object }) {
      if (type === 'deleted') return;
      restarter.consider(object);
      for (const ref of configMaps.get(workloadKey(object)) ?? []) {
        const configMap = findWorkload(ref);
        if (configMap === undefined) continue;
        restarter.consider(configMap);
        onRollout({ type: 'updated', object: configMap, previous: configMap });
      }
    },
    resync() {
      for (const { namespace, name } of named) {
        const configMap = findWorkload({ kind: configMapKind, namespace, name });
        if (configMap !== undefined) restarter.consider(configMap);
      }
    },
  };
}

/** The ConfigMaps for which workloads are restarted, by the key of the workload. */
function configMapsByWorkload(named: readonly NamedConfigMap[]): ReadonlyMap<string, readonly WorkloadRef[]> {
  const found = new Map<string, WorkloadRef[]>();
  for (const { namespace, name, restarts } of named) {
    const configMap = { kind: configMapKind, namespace, name };
    for (const ref of restartedBy({ namespace, restarts }))
      found.set(workloadKey(ref), [...(found.get(workloadKey(ref)) ?? []), configMap]);
  }
  return found;
}
