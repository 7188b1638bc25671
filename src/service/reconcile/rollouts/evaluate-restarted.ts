import { restartedBy } from '../../../core/model/config-map-target.ts';
import { describeError } from '../../../core/model/errors.ts';
import { workloadKey, type Workload } from '../../../core/model/workload.ts';
import type { PodState } from '../../../core/rollout/evaluate-pods.ts';
import { evaluateChange } from '../../../core/rollout/evaluate-change.ts';
import type { Rollout } from '../../../core/rollout/current-rollouts.ts';
import { changedAt, type RolloutEvaluation, type RolloutTime } from '../../../core/rollout/evaluate-rollout.ts';
import type { RolloutCheck, RolloutPorts } from './watch-rollouts.ts';

/** Evaluates a change of a ConfigMap by what the API server says now of the workloads that are restarted for it, as far as the policy may see them, and of their pods. */
export async function evaluateRestarted(
  { workload: configMap, entries }: Rollout,
  ownTime: RolloutTime,
  { policy, cluster, signal }: RolloutCheck,
  { workloads, report }: RolloutPorts,
): Promise<RolloutEvaluation> {
  const found = new Map<string, Workload>();
  const podsOf = new Map<string, readonly PodState[]>();
  let answeredAt: Date | undefined;
  for (const ref of restartedBy(configMap)) {
    if (cluster.findWorkload(ref) === undefined) continue;
    const key = workloadKey(ref);
    const workload = await workloads.read(ref, signal, (at) => (answeredAt = at));
    if (workload === undefined) continue;
    found.set(key, workload);
    const pods = await workloads.readPods(workload, signal).catch((error: unknown) => {
      report.logger.warn({ workload: key, why: describeError(error) }, 'pods of a rollout could not be read');
    });
    if (pods !== undefined) podsOf.set(key, pods);
  }
  const time = answeredAt === undefined ? ownTime : { ...ownTime, since: changedAt(configMap, ownTime) };
  return evaluateChange(policy, { workload: configMap, entries }, time, {
    at: answeredAt ?? new Date(cluster.now()),
    findWorkload: (ref) => found.get(workloadKey(ref)),
    podsOf: (workload) => podsOf.get(workloadKey(workload)),
  });
}
