import { foundResults } from '../../../core/rollout/found-results.ts';
import { isUsable, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { asSeenBy } from '../../../core/plan/consent.ts';
import type { PolicyJob } from '../../queue/jobs.ts';
import type { JobContext } from '../../queue/worker.ts';
import { findSame } from '../attempt.ts';
import type { Ports } from '../ports.ts';
import { recordChanges } from '../record-changes.ts';

/**
 * Records with the pushes of a policy what its status says of their rollouts, unless that is recorded already. For a job that is tried again: the try before may have
 * written the status, and then have lost Redis or its process.
 */
export async function recordFound(job: PolicyJob, { signal }: JobContext, ports: Ports): Promise<void> {
  const known = findSame(job, ports.policies);
  if (known === undefined || !watches(known)) return;
  const { namespace, name, uid } = job.policy;
  // The try before may have been that of another replica, whose write is not in the cache yet.
  const policy = await ports.policies.read(namespace, name, signal);
  if (policy?.uid !== uid || !watches(policy)) return;
  const cluster = asSeenBy(policy, ports.cluster);
  const at = new Date(cluster.now()).toISOString();
  for (const { entries, ...result } of foundResults(policy.status))
    await recordChanges({ policy, before: policy.status }, entries, { ...result, isFound: true, at }, { ...ports, cluster });
}

function watches({ spec }: ImagePolicy): boolean {
  return isUsable(spec) && spec.rollout !== undefined;
}
