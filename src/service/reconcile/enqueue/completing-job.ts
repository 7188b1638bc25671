import type { ImagePolicy } from '../../../core/model/image-policy.ts';
import { policyJob, type PolicyJob } from '../../queue/jobs.ts';

const prefix = 'outdated:';

/** Whether a job completes a report that was made from a status that had changed since, which the cache of this process may not show yet. */
export function isCompletingJob({ cause }: { readonly cause: string }): boolean {
  return cause.startsWith(prefix);
}

/** The job that completes the status of a policy after a report that does not say everything about the selected image. */
export function completingJob(policy: ImagePolicy, now: Date): PolicyJob {
  const receivedAt = now.toISOString();
  return policyJob(policy, { source: 'TargetChange', cause: `${prefix}${receivedAt}`, receivedAt, generation: policy.generation });
}
