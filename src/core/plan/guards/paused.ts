import { formatWorkload, kindKey, type WorkloadRef } from '../../model/workload.ts';
import type { Guard } from './guard.ts';

/** Refuses to change a paused workload. A user who resumes it does not expect that this rolls out another image. */
export const paused: Guard = {
  id: 'paused',
  bindsRollback: false,
  check({ target, workload }, { candidate }) {
    if (workload?.paused !== true) return undefined;
    const message = `${formatWorkload(target)} is paused, so ${candidate.tag} waits until it is resumed: ${howToResume(target)}`;
    return { kind: 'blocked', reason: 'TargetPaused', message };
  },
};

/** How a user resumes the rollouts of a workload. kubectl resumes Deployments alone. The plugin of Argo Rollouts has no command "resume": its "promote" does that. For other kinds only the field is known. */
function howToResume(target: WorkloadRef): string {
  const { namespace, name } = target;
  const kind = kindKey(target);
  if (kind === 'Deployment') return `kubectl -n ${namespace} rollout resume deployment/${name}`;
  if (kind.startsWith('argoproj.io/') && kind.endsWith('/Rollout')) return `kubectl argo rollouts -n ${namespace} promote ${name}`;
  return 'set its field spec.paused to false';
}
