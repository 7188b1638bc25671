/** Waits for the rollouts of changed workloads. A failed rollout is only reported. Only the service rolls back, because it remembers rejected images. */
import { setTimeout as delay } from 'node:timers/promises';
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import { builtInSettings } from '../../core/model/policy-defaults.ts';
import { workloadKey, type WorkloadRef } from '../../core/model/workload.ts';
import { evidenceOf } from '../../core/rollout/evaluate-pods.ts';
import { evaluateRollout, type RolloutEvaluation } from '../../core/rollout/evaluate-rollout.ts';
import type { Workloads } from '../../service/reconcile/ports.ts';
import type { MadeChange } from './reconcile.ts';

/** The result of a rollout. */
export interface WatchedRollout {
  readonly target: WorkloadRef;
  readonly result: Exclude<RolloutEvaluation['kind'], 'progressing'>;
  readonly message: string;
}

const stepMs = 500;

/** Resolves when all rollouts have completed or failed, or are of a kind without rollouts. The policy contains the timeout. */
export async function watchRollouts(
  { spec }: ImagePolicy,
  changes: readonly MadeChange[],
  workloads: Pick<Workloads, 'read' | 'readPods'>,
  signal: AbortSignal,
): Promise<readonly WatchedRollout[]> {
  const { timeoutMs } = (isUsable(spec) ? spec.rollout : undefined) ?? builtInSettings.rollout.settings;
  const since = new Date();
  const targets = [...Map.groupBy(changes, ({ target }) => workloadKey(target)).values()];
  return Promise.all(targets.map((of) => watch(of, { since, timeoutMs, workloads, signal })));
}

interface Watching {
  readonly since: Date;
  readonly timeoutMs: number;
  readonly workloads: Pick<Workloads, 'read' | 'readPods'>;
  readonly signal: AbortSignal;
}

async function watch(changes: readonly MadeChange[], { workloads, signal, ...time }: Watching): Promise<WatchedRollout> {
  const [first] = changes;
  if (first === undefined) throw new Error('nothing was changed');
  const { target } = first;
  const containers = new Set(changes.map(({ container }) => container));
  for (;;) {
    const workload = await workloads.read(target, signal);
    if (workload === undefined) return { target, result: 'failed', message: 'it was deleted' };
    const alone = evaluateRollout(workload, time, new Date());
    const now = new Date();
    const isOver = alone.kind === 'done' || alone.kind === 'notWatched';
    // If pods may not be read, the status of the workload itself has to show the result.
    const pods = isOver ? undefined : await workloads.readPods(workload, signal).catch(() => undefined);
    const found = pods === undefined ? alone : evaluateRollout(workload, time, now, evidenceOf(pods, containers, now));
    if (found.kind !== 'progressing') return { target, result: found.kind, message: found.message };
    await delay(stepMs, undefined, { signal });
  }
}
