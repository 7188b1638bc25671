import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { isPending } from '../plan/pending-candidate.ts';
import type { PolicyJob } from '../queue/jobs.ts';

/** A job that is requeued at that time ends the wait itself; another reconcile is needed only if Redis lost that job. */
const graceMs = 60_000;

/**
 * The delayed job that requeues a waiting policy, or undefined. It follows from the status alone, so it is created again after a restart or after Redis was
 * wiped; the same wait makes the same job.
 */
export function waitJob({ namespace, name, uid, generation, spec, status }: ImagePolicy): PolicyJob | undefined {
  const { waiting } = status;
  const until = Date.parse(waiting?.until ?? '');
  if (waiting === undefined || Number.isNaN(until) || !isUsable(spec) || spec.suspended) return undefined;
  const at = new Date(isPending(waiting) ? until : until + graceMs).toISOString();
  return {
    schema: 1,
    policy: { namespace, name, uid },
    generation,
    source: 'WaitOver',
    cause: `wait:${waiting.until}`,
    // Not the time at which it was enqueued: a job is given up a day after it was received.
    receivedAt: at,
    wait: { until: waiting.until, at },
  };
}
