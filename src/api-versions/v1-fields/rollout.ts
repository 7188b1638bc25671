import { z } from 'zod';
import { duration } from './scalars.ts';

/** `spec.rollout`. */
export const rollout = z
  .object({
    watch: z.boolean().default(true).describe('Whether the rollout is watched until it is done or failed.'),
    timeout: duration('How long a rollout may take.').default('10m'),
    onFailure: z
      .enum(['Rollback', 'Hold', 'Ignore'])
      .default('Rollback')
      .describe('Rollback: the previous image is put back. Hold: nothing more is changed. Ignore: the failure is only told.'),
  })
  .describe('What happens after a workload was changed. Without it, the rollout is watched for 10m, and a failure is only told.');
