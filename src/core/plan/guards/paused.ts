import { formatWorkload, kindKey, type WorkloadRef } from '../../model/workload.ts';
import type { Guard } from './guard.ts';

/** Whoever paused a workload does not expect that resuming it rolls out a different image. */
export const paused: Guard = {
  id: 'paused',
  bindsRollback: false,
  check({ target, workload }, { candidate }) {
    if (workload?.paused !== true) return undefined;
    const message = `${formatWorkload(target)} is paused, so ${candidate.tag} waits until it is resumed: ${howToResume(target)}`;
    return { kind: 'blocked', reason: 'TargetPaused', message };
  },
};

/** kubectl resumes Deployments alone; Argo Rollouts has a plugin; nothing is known of other kinds but the field. */
function howToResume(target: WorkloadRef): string {
  const { namespace, name } = target;
  const kind = kindKey(target);
  if (kind === 'Deployment') return `kubectl -n ${namespace} rollout resume deployment/${name}`;
  if (kind.startsWith('argoproj.io/') && kind.endsWith('/Rollout')) return `kubectl argo rollouts -n ${namespace} resume ${name}`;
  return 'set its field spec.paused to false';
}
