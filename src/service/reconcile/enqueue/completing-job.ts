import type { ImagePolicy } from '../../../core/model/image-policy.ts';
import type { PolicyJob } from '../../queue/jobs.ts';

/** The job that completes a status where a report says nothing about the selected image. */
export function completingJob({ namespace, name, uid, generation }: ImagePolicy, now: Date): PolicyJob {
  const receivedAt = now.toISOString();
  return { schema: 1, policy: { namespace, name, uid }, source: 'TargetChange', cause: `outdated:${receivedAt}`, receivedAt, generation };
}
