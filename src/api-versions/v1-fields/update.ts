import { z } from 'zod';
import { fieldOf, withChecks, withRules, type Finding } from '../rules.ts';
import { distinct, duration } from './scalars.ts';

const time = (what: string) =>
  z
    .string()
    .max(5)
    .regex(/^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/, 'a time of the day from "00:00" to "23:59"')
    .describe(`${what} HH:MM in the time zone of the window.`);

/** One of `spec.update.windows`. */
export const window = withRules(
  z
    .object({
      days: distinct(
        z
          .array(z.enum(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']).describe('A day.'))
          .min(1)
          .max(7)
          .describe('Days on which the window starts; without it every day.'),
      ).optional(),
      from: time('When it opens.'),
      to: time('When it closes; earlier than "from" means on the next day.'),
      timeZone: withChecks(z.string().min(1).max(64).describe('IANA time zone, such as "Europe/Berlin".'), checkTimeZone).default('UTC'),
    })
    .describe('A time of the week.'),
  [
    {
      rule: '!has(self.from) || !has(self.to) || self.from != self.to',
      message: 'from and to are the same time: write when the window closes',
      holds: (self) => fieldOf(self, 'from') !== fieldOf(self, 'to') || fieldOf(self, 'from') === undefined,
    },
  ],
);

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

/** A time zone that the runtime knows. */
export function checkTimeZone(value: unknown): Finding[] {
  try {
    Intl.DateTimeFormat('en', { timeZone: String(value) }).resolvedOptions();
    return [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ message: `"${String(value)}" is no time zone: write an IANA name such as "Europe/Berlin", or UTC` }];
  }
}
