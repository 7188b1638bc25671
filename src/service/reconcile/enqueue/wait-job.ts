import { isUsable, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { isPending } from '../../../core/plan/pending-candidate.ts';
import { policyJob, type PolicyJob } from '../../queue/jobs.ts';
import { WaitError } from '../../../core/model/errors.ts';
import type { Ports } from '../ports.ts';
import { withPolicy } from './fresh-state.ts';

/** How long after the end of a wait another reconcile is enqueued. The requeued job ends the wait itself, unless Redis lost that job. */
const graceMs = 60_000;

/**
 * The delayed job that requeues a waiting policy, or undefined. It follows from the status alone, so it is created again after a restart or after Redis was
 * wiped; the same wait makes the same job.
 */
export function waitJob(policy: ImagePolicy): PolicyJob | undefined {
  const { generation, spec } = policy;
  const { waiting } = policy.status;
  const until = Date.parse(waiting?.until ?? '');
  if (waiting === undefined || Number.isNaN(until) || !isUsable(spec) || spec.suspended) return undefined;
  const at = new Date(isPending(waiting) ? until : until + graceMs).toISOString();
  return policyJob(policy, {
    generation,
    source: 'WaitOver',
    cause: `wait:${waiting.until}`,
    // The job's time is the end of the wait, not its enqueuing, because a job is given up a day after it was received.
    receivedAt: at,
    wait: { until: waiting.until, at },
  });
}

/**
 * Ports that show the wait which a delayed job is about, even if our watch lags; undefined if the policy no longer waits for that. Throws WaitError if the job
 * runs too early because clocks differ: otherwise it would complete, and the same wait makes no second job.
 */
export async function endWait<P extends Pick<Ports, 'policies' | 'cluster'>>(
  wait: NonNullable<PolicyJob['wait']>,
  { namespace, name }: PolicyJob['policy'],
  ports: P,
  signal: AbortSignal,
): Promise<P | undefined> {
  const at = new Date(wait.at);
  if (ports.cluster.now() < at.getTime()) throw new WaitError('MinAge', at, 'the job ran before the wait was over');
  const isAbout = (policy: ImagePolicy | undefined) => policy?.status.waiting?.until === wait.until;
  if (isAbout(ports.policies.find(namespace, name))) return ports;
  const read = await ports.policies.read(namespace, name, signal);
  return read !== undefined && isAbout(read) ? withPolicy(read, ports) : undefined;
}
