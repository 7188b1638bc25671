import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { isPlace } from '../plan/waiting.ts';
import type { PolicyJob } from '../queue/jobs.ts';

/** A job that is tried again at that time clears the wait itself; only if it was lost with Redis, somebody else has to look. */
const graceMs = 60_000;

/**
 * The alarm for what a policy waits for: a delayed job, or undefined. Judged from the status alone, so that it is set anew after a restart and after Redis was
 * wiped; the same wait is the same job.
 */
export function alarmJob({ namespace, name, uid, generation, spec, status }: ImagePolicy): PolicyJob | undefined {
  const { waiting } = status;
  const until = Date.parse(waiting?.until ?? '');
  if (waiting === undefined || Number.isNaN(until) || !isUsable(spec) || spec.suspended) return undefined;
  const at = new Date(isPlace(waiting) ? until : until + graceMs).toISOString();
  return {
    schema: 1,
    policy: { namespace, name, uid },
    generation,
    source: 'WaitOver',
    cause: `alarm:${waiting.until}`,
    // Not when it was set: a job is given up a day after it was received.
    receivedAt: at,
    alarm: { until: waiting.until, at },
  };
}
