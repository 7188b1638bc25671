import { z } from 'zod';
import { duration } from './scalars.ts';

/** `spec.rollout`. */
export const rollout = z
  .object({
    watch: z.boolean().default(true).describe('Whether the rollout is watched until it is done or failed.'),
    timeout: duration('How long a rollout may take, and each of its new pods; time in which it cannot go on does not count.').default(
      '10m',
    ),
    onFailure: z
      .enum(['Rollback', 'Hold', 'Ignore'])
      .default('Rollback')
      .describe('Rollback: the previous image is put back. Hold: nothing more is changed. Ignore: the failure is only told.'),
    maxParallel: z
      .int()
      .min(1)
      .max(100)
      .default(10)
      .describe('How many workloads are patched at the same time at most, where the targets are many; their rollouts may overlap.'),
  })
  .describe('What happens after a workload was changed. Without it, the rollout is watched for 10m, and a failure is only told.');
