import { z } from 'zod';
import { window } from './window.ts';

/** `spec.update`. */
export const update = z
  .object({
    mode: z
      .enum(['Automatic', 'Approval', 'DryRun'])
      .default('Automatic')
      .describe('Automatic: changes workloads. Approval: waits until somebody approves the digest. DryRun: only tells what it would do.'),
    pin: z
      .enum(['Tag', 'Digest'])
      .optional()
      .describe(
        'What is written: Tag is repository:tag, Digest is repository:tag@sha256:…. Without it Tag, but Digest with select.digest or verify.',
      ),
    allowDowngrade: z.boolean().default(false).describe('Whether an older tag may replace a newer one.'),
    windows: z
      .array(window)
      .max(32)
      .optional()
      .describe('When workloads may be changed; without it always. An update found outside waits.'),
  })
  .describe('How a selected image reaches the workloads.');
