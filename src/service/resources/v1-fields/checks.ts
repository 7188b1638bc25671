import { z } from 'zod';
import { maxChecks } from '../../../core/model/check-record.ts';
import { checkPhases } from '../../../core/model/rollout-check.ts';
import { withRules } from '../rules.ts';
import { duration, label, name, secretKeyOf } from './scalars.ts';

const http = z
  .object({
    url: z
      .string()
      .min(1)
      .max(1_024)
      .regex(/^https?:\/\/[^\s@]+$/, 'a URL without a user, such as "https://checks.example.com/smoke"')
      .describe('The URL. Its host must be one that the operator allows (checks.hosts of the configuration).'),
    secretRef: secretKeyOf('the policy')('The Secret with the key that requests are signed with (Standard Webhooks).'),
  })
  .describe('Sends a signed CloudEvent to an endpoint. The answer is a verdict: {"verdict": "pass"}, or "fail" with a "reason".');

const prometheus = withRules(
  z
    .object({
      server: label('The name of a server that the operator offers (checks.prometheus of the configuration).'),
      query: z
        .string()
        .min(1)
        .max(2_048)
        .describe('A query in PromQL with a number or a vector as its result. Every number of it must be in the range.'),
      min: z.number().exactOptional().describe('The least good number.'),
      max: z.number().exactOptional().describe('The greatest good number.'),
      noData: z
        .enum(['Wait', 'Pass', 'Fail'])
        .default('Wait')
        .describe(
          'What a result without a number means: an empty one, or NaN. Wait: the check is asked again until its timeout. Pass: a good answer. Fail: a bad one.',
        ),
    })
    .describe('Compares the result of a query with a range.'),
  [
    { rule: 'has(self.min) || has(self.max)', message: 'write min, max or both: the range of good numbers' },
    { rule: '!has(self.min) || !has(self.max) || self.min <= self.max', message: 'no number is in the range: min is greater than max' },
  ],
);

const job = z
  .object({
    cronJob: name(
      'The name of a CronJob in the namespace of the policy. It must be suspended, and have the annotation operator.technomad.dev/check: allow.',
    ),
  })
  .describe('Runs a Job made from a suspended CronJob. It passes when the Job is complete.');

const analysis = z
  .object({
    template: name(
      'The name of an AnalysisTemplate in the namespace of the policy. It must have the annotation operator.technomad.dev/check: allow.',
    ),
  })
  .describe(
    'Makes an AnalysisRun of Argo Rollouts. It passes when the run is successful. Args of the template that are named image, tag, digest and policy get the values of the image.',
  );

const ways = {
  http: http.exactOptional(),
  prometheus: prometheus.exactOptional(),
  job: job.exactOptional(),
  analysis: analysis.exactOptional(),
};
const names = Object.keys(ways);

const check = withRules(
  z
    .object({
      name: label('The name of the check, in messages and in the names of Jobs and AnalysisRuns.'),
      phase: z
        .enum(checkPhases)
        .default('after')
        .describe(
          'before: before anything is changed. during: from the first change until its rollout is over. after: when what was changed has rolled out. With waves, during and after are about the first wave, and the others wait.',
        ),
      every: duration('How often it is asked.').default('10s'),
      for: duration('How long every answer must be good; by default the first good answer is enough.').exactOptional(),
      timeout: duration(
        'How long a missing answer is waited for, beyond "for". Then the check has failed, for a cause that is not the image.',
      ).default('10m'),
      retries: z
        .int()
        .min(0)
        .max(100)
        .default(0)
        .describe('How many bad answers are forgiven. A Job is tried again by its own backoffLimit.'),
      ...ways,
    })
    .describe('A check with a veto.'),
  [
    {
      rule: `[${names.map((one) => `has(self.${one})`).join(', ')}].filter(x, x).size() == 1`,
      message: `write exactly one of ${names.join(', ')}`,
    },
    {
      rule: "!has(self.for) || !has(self.phase) || self.phase != 'during'",
      message: 'a check of the phase during goes on until the rollout is over: remove for',
    },
    { rule: '!has(self.job) || !has(self.for)', message: 'a Job runs once: remove for' },
    { rule: '!has(self.analysis) || !has(self.for)', message: 'an AnalysisRun runs once: remove for' },
  ],
);

/** Schema of `spec.rollout.checks`. */
export const checks = withRules(
  z
    .array(check)
    .min(1)
    .max(maxChecks)
    .describe(
      'What has a veto on an image: endpoints, queries of Prometheus, Jobs, AnalysisRuns of Argo Rollouts. Each gives one verdict on each image.',
    ),
  [{ rule: 'self.all(one, self.exists_one(other, other.name == one.name))', message: 'two checks have the same name: each needs its own' }],
);
