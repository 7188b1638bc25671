import type { ImagePolicy } from '../../../core/model/image-policy.ts';
import { policyJob, type PolicyJob } from '../../queue/jobs.ts';

/** The job that completes the status of a policy after a report that does not say everything about the selected image. */
export function completingJob(policy: ImagePolicy, now: Date): PolicyJob {
  const receivedAt = now.toISOString();
  return policyJob(policy, { source: 'TargetChange', cause: `outdated:${receivedAt}`, receivedAt, generation: policy.generation });
}
