import { z } from 'zod';
import { withChecks, withRules, type Finding } from '../rules.ts';
import { provenBy } from './proven.ts';
import { checks } from './checks.ts';
import { distinct, duration } from './scalars.ts';
import { labelSelector } from './target.ts';
import { unless } from './verify.ts';

const time = (what: string) =>
  z
    .string()
    .max(5)
    .regex(/^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/, 'a time of the day from "00:00" to "23:59"')
    .describe(`${what} HH:MM in the time zone of the window.`);

/** Schema of one of `spec.update.windows`. */
export const window = withRules(
  z
    .object({
      days: distinct(
        z
          .array(z.enum(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']).describe('A day of the week.'))
          .min(1)
          .max(7)
          .describe('The days on which the window opens; by default every day.'),
      ).exactOptional(),
      from: time('When it opens.'),
      to: time('When it closes; earlier than "from" means on the next day.'),
      timeZone: withChecks(z.string().min(1).max(64).describe('IANA time zone, such as "Europe/Berlin".'), checkTimeZone).default('UTC'),
    })
    .describe('A time of the week in which workloads may be changed.'),
  [
    {
      rule: '!has(self.from) || !has(self.to) || self.from != self.to',
      message: 'from and to are the same time: write when the window closes',
    },
  ],
);

/** Schema of `spec.update.mode`. */
export const mode = z
  .enum(['Automatic', 'Approval', 'DryRun'])
  .default('Automatic')
  .describe(
    'Automatic: changes workloads. Approval: changes them when somebody approves the digest. DryRun: only reports what it would change.',
  );

/** Schema of `spec.update.windows`. */
export const windows = z
  .array(window)
  .max(32)
  .describe('When workloads may be changed; by default always. An update that is found outside of the windows waits for the next one.');

/** Schema of `spec.update.approvals`, and of `spec.approvals` of a BaseImagePolicy. */
export const approvals = z
  .object({
    count: z.int().min(1).max(10).default(2).describe('How many people have to approve it. Each counts once.'),
    within: duration('How far apart their approvals may be.').default('48h'),
    notByAuthor: z
      .boolean()
      .default(false)
      .describe(
        'Whether the approval of who last changed the spec does not count. Every change of the spec then has to name its author in the annotation operator.technomad.dev/last-edited-by.',
      ),
  })
  .describe('Asks for the approvals of several people; only with mode: Approval, and with the admission policy of the chart.');

/** The rule for an object with `mode` and `approvals`. */
export const approvalsRule = {
  rule: '!has(self.approvals) || (has(self.mode) && self.mode == "Approval")',
  message: 'approvals without mode: Approval would have no effect: write mode: Approval, or remove approvals',
};

const updateFields = z
  .object({
    mode,
    approvals: approvals.exactOptional(),
    pin: z
      .enum(['Tag', 'Digest'])
      .exactOptional()
      .describe(
        'The form in which the image is written: Tag is repository:tag, Digest is repository:tag@sha256:…. By default Tag, but Digest with select.digest, select.proven, after or verify.',
      ),
    allowDowngrade: z.boolean().default(false).describe('Whether an older tag may replace a newer one.'),
    windows: windows.exactOptional(),
    windowsUnless: unless('Which images are applied outside of the windows.').exactOptional(),
    after: provenBy(
      'Policies that have to run the selected image before this one applies it. With select.proven, it is written there instead.',
    ).exactOptional(),
  })
  .describe('How a selected image reaches the workloads.');

/** Schema of `spec.update`. */
export const update = withRules(updateFields, [approvalsRule]);

/** Schema of `spec.rollout.waves`, and of `spec.waves` of a BaseImagePolicy. */
export const waves = z
  .object({
    maxParallel: z.int().min(1).max(100).exactOptional().describe('How many workloads roll out at the same time; by default 5.'),
    canaries: labelSelector(
      'workload',
      'Selects the workloads that are changed first; the others wait until they have rolled out.',
    ).exactOptional(),
    pause: duration('How long to wait between two waves; by default 10m.').exactOptional(),
    maxFailures: z
      .int()
      .min(1)
      .max(100)
      .exactOptional()
      .describe('After so many failed rollouts the image is rejected, and nothing more is changed to it; by default 1.'),
  })
  .describe('In which order workloads are changed.');

const rolloutFields = z
  .object({
    watch: z.boolean().default(true).describe('Whether the rollout is watched until it is complete or has failed.'),
    timeout: duration('How long a rollout may take, and each of its new pods; time in which it cannot proceed does not count.').default(
      '10m',
    ),
    onFailure: z
      .enum(['Rollback', 'Hold', 'Ignore'])
      .default('Rollback')
      .describe(
        'Rollback: the workload is rolled back to the previous image. Hold: nothing more is changed. Ignore: the failure is only reported.',
      ),
    maxParallel: z
      .int()
      .min(1)
      .max(100)
      .default(10)
      .describe('The maximum number of workloads that are patched at the same time; their rollouts may overlap.'),
    waves: waves.exactOptional(),
    checks: checks.exactOptional(),
  })
  .describe('What happens after a workload was changed. Without it, the rollout is watched for 10m, and a failure is only reported.');

/** Schema of `spec.rollout`. */
export const rollout = withRules(rolloutFields, [
  {
    rule: '!has(self.waves) || ((!has(self.watch) || self.watch) && (!has(self.onFailure) || self.onFailure != "Ignore"))',
    message: 'waves need to know which rollouts fail: write onFailure: Rollback or Hold, and no watch: false',
  },
  {
    rule: '!has(self.checks) || !has(self.watch) || self.watch',
    message: 'checks follow the rollout: remove watch: false',
  },
]);

/** Checks that the runtime knows a time zone. */
function checkTimeZone(value: unknown): Finding[] {
  try {
    Intl.DateTimeFormat('en', { timeZone: String(value) }).resolvedOptions();
    return [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ message: `"${String(value)}" is not a time zone: write an IANA name such as "Europe/Berlin", or UTC` }];
  }
}
