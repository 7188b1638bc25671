/** The processor of scans: has the policies look again that ask the registry for the report of one. */
import { inSlices } from '../../core/async/in-parallel.ts';
import { isUsable } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { policyJob, type PolicyJob, type ScanJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import type { JobQueue, Policies } from './ports.ts';

/** Enqueues a reconcile for each policy that watches the scanned repository and asks Harbor. A scan that is processed again makes the same jobs. */
export async function processScan(
  { scanned, receiver, receivedAt }: ScanJob,
  { signal }: Pick<JobContext, 'signal'>,
  { policies, queues }: { readonly policies: Pick<Policies, 'match'>; readonly queues: Pick<JobQueue, 'addPolicyJobs'> },
): Promise<void> {
  const cause = `scan:${formatRepository(scanned)}:${receivedAt}`;
  const jobs: PolicyJob[] = [];
  await inSlices(policies.match(scanned), signal, (policy) => {
    const { spec } = policy;
    if (isUsable(spec) && !spec.suspended && spec.vulnerabilities?.harbor === true)
      jobs.push(policyJob(policy, { source: 'Webhook', cause, receivedAt, receiver }));
  });
  if (jobs.length > 0) await queues.addPolicyJobs(jobs);
}
