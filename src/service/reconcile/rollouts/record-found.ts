import { foundResults } from '../../../core/rollout/found-results.ts';
import { isUsable } from '../../../core/model/image-policy.ts';
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
export async function recordFound(job: PolicyJob, { wasLost, signal }: JobContext, ports: Ports): Promise<void> {
  const { namespace, name, uid } = job.policy;
  const policy = wasLost ? await ports.policies.read(namespace, name, signal) : findSame(job, ports.policies);
  if (policy?.uid !== uid || !isUsable(policy.spec) || policy.spec.rollout === undefined) return;
  const cluster = asSeenBy(policy, ports.cluster);
  const at = new Date(cluster.now()).toISOString();
  for (const { entries, ...result } of foundResults(policy.status))
    await recordChanges(
      { policy, before: policy.status },
      entries,
      { ...result, stage: 'rollout', isFound: true, at },
      { ...ports, cluster },
    );
}
