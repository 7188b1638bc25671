/** Evaluates what a change of a ConfigMap leads to: the rollouts of the workloads that are restarted for it. */
import { heldChanges, isRestartedFor, restartedBy } from '../model/config-map-target.ts';
import { defined } from '../model/defined.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { formatWorkload, imagesOf, type Workload } from '../model/workload.ts';
import { graceMs } from './evaluate-installation.ts';
import { evidenceOf, type PodState } from './evaluate-pods.ts';
import { evaluateRollout, type PodEvidence, type RolloutEvaluation, type RolloutTime } from './evaluate-rollout.ts';

/** What is known beside the workload itself. */
export interface RestartView extends Pick<WorkloadView, 'findWorkload'> {
  readonly at: Date;
  /** The newest pods of the workload itself; absent where they were not read. */
  readonly pods?: PodEvidence | undefined;
  /** The newest pods of a workload that is restarted for a ConfigMap; absent where they were not read. */
  readonly podsOf?: (workload: Workload) => readonly PodState[] | undefined;
}

/** Evaluates the rollout of a workload; of a ConfigMap, those of the workloads that are restarted for it. */
export function evaluateWorkload(workload: Workload, time: RolloutTime, view: RestartView): RolloutEvaluation {
  return workload.restarts === undefined ? evaluateRollout(workload, time, view.at, view.pods) : evaluateRestarts(workload, time, view);
}

/**
 * | of the workloads that are restarted …            | evaluation  |
 * | ------------------------------------------------ | ----------- |
 * | one has failed                                   | failed      |
 * | one is not restarted yet, or rolls out           | progressing; not restarted an hour after the timeout: not watched |
 * | all that are watched are complete                | done        |
 * | none exists, may be seen, or is watched          | notWatched  |
 */
function evaluateRestarts(configMap: Workload, time: RolloutTime, view: RestartView): RolloutEvaluation {
  const changes = heldChanges(configMap);
  const name = formatWorkload(configMap);
  const found = restartedBy(configMap).flatMap((ref) => view.findWorkload(ref) ?? []);
  const evaluations = found.map((workload): RolloutEvaluation => {
    if (!isRestartedFor(changes, workload.restartedFor)) {
      const isOver = view.at.getTime() - time.since.getTime() - time.timeoutMs > graceMs;
      return { kind: isOver ? 'notWatched' : 'progressing', message: `${formatWorkload(workload)} has not been restarted yet` };
    }
    const pods = view.podsOf?.(workload);
    const containers = new Set(imagesOf(workload).map(({ container }) => container.name));
    // The times of its images are left out: they may have been set long before the restart.
    const { kind, namespace, name: ofWorkload, generation, rollout } = workload;
    const restarted = { kind, namespace, name: ofWorkload, generation, ...defined({ rollout }) };
    return evaluateRollout(restarted, time, view.at, pods && evidenceOf(pods, containers, view.at));
  });
  const decisive = (['failed', 'progressing', 'done'] as const)
    .map((kind) => evaluations.find((one) => one.kind === kind))
    .find((one) => one !== undefined);
  if (decisive !== undefined) return { ...decisive, message: `${name}: ${decisive.message}` };
  const [first] = evaluations;
  return { kind: 'notWatched', message: first?.message ?? `${name} is not watched: none of the workloads that it restarts can be seen` };
}
