import { formatWorkload } from '../../model/workload.ts';
import type { Guard } from './guard.ts';

/** Whoever paused a workload does not expect that resuming it rolls out a different image. */
export const paused: Guard = {
  id: 'paused',
  bindsRollback: false,
  check({ target, workload }, { candidate }) {
    if (workload?.paused !== true) return undefined;
    const message = `${formatWorkload(target)} is paused, so ${candidate.tag} waits until it is resumed: kubectl rollout resume`;
    return { kind: 'blocked', reason: 'TargetPaused', message };
  },
};
