/** The processor of the queue `policy`: a job reconciles its policy, or only checks the rollouts of its changes. */
import type { PolicyJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import type { Ports } from './ports.ts';
import { processPolicyJob } from './process-policy.ts';
import { recordFound } from './rollouts/record-found.ts';
import { watchRollouts } from './rollouts/watch-rollouts.ts';

export async function processTask(job: PolicyJob, context: JobContext, ports: Ports): Promise<void> {
  await (job.task === 'rollout' ? watchRollouts(job, ports, context.signal) : processPolicyJob(job, context, ports));
  if (context.failures > 0 || context.wasLost) await recordFound(job, context, ports);
}
