import type { ImagePolicy } from '../../../core/model/image-policy.ts';
import type { PolicyJob } from '../../queue/jobs.ts';

/** The job that completes the status of a policy after a report that does not say everything about the selected image. */
export function completingJob({ namespace, name, uid, generation }: ImagePolicy, now: Date): PolicyJob {
  const receivedAt = now.toISOString();
  return { schema: 1, policy: { namespace, name, uid }, source: 'TargetChange', cause: `outdated:${receivedAt}`, receivedAt, generation };
}
