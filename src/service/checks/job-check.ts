/** A check by a Job that is made from a suspended CronJob in the namespace of the policy. */
import { z } from 'zod';
import type { CheckAnswer, CheckQuestion } from '../../core/model/rollout-check.ts';
import type { KubeClient } from '../kube/client.ts';
import { objectPath, readObject } from '../kube/objects.ts';
import type { AskedAnswer, CheckRequest } from '../reconcile/checks/check-request.ts';
import type { CheckMeans } from './check-means.ts';
import { annotationsOf, askMade, checkConsent, texts } from './made-once.ts';

const jobs = { apiVersion: 'batch/v1', resource: 'jobs', kind: 'Job' } as const;
const cronJobs = { apiVersion: 'batch/v1', resource: 'cronjobs' } as const;
/** How long a finished Job is kept, at least: until its verdict is stored for sure. */
const keptSeconds = 3_600;

const metadata = z.object({ labels: texts.exactOptional(), annotations: texts.exactOptional() });
const jobTemplate = z.looseObject({
  ttlSecondsAfterFinished: z.number().exactOptional(),
  activeDeadlineSeconds: z.number().exactOptional(),
  template: z.looseObject({ metadata: metadata.loose().exactOptional() }),
});
const cronJob = z.object({
  metadata: z.object({ annotations: texts.exactOptional() }),
  spec: z.object({
    suspend: z.boolean().exactOptional(),
    jobTemplate: z.object({ metadata: metadata.exactOptional(), spec: jobTemplate }),
  }),
});
const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().exactOptional(),
  message: z.string().exactOptional(),
});
const job = z.object({ status: z.object({ conditions: z.array(condition).exactOptional() }).exactOptional() });

/** Creates the Job of a check, or reads its result. */
export function askJob(question: Extract<CheckQuestion, { kind: 'job' }>, request: CheckRequest, means: CheckMeans): Promise<AskedAnswer> {
  const { client } = means;
  const make = async () => {
    const found = await findCronJob(question.cronJob, request.policy.namespace, client, request.signal);
    return typeof found === 'string' ? found : jobOf(found, request);
  };
  return askMade({ resource: jobs, make, judge: judgeJob }, request, means);
}

function judgeJob(found: unknown, name: string): CheckAnswer | undefined {
  const read = job.safeParse(found);
  if (!read.success) return undefined;
  const conditions = read.data.status?.conditions ?? [];
  const trueOf = (type: string) => conditions.find((one) => one.type === type && one.status === 'True');
  const failed = trueOf('Failed');
  // A Job that took too long says nothing about the image.
  if (failed?.reason === 'DeadlineExceeded') return { kind: 'none', message: `the Job ${name} took too long` };
  if (failed !== undefined) return { kind: 'fail', message: `the Job ${name} failed: ${failed.message ?? failed.reason ?? ''}` };
  if (trueOf('Complete') === undefined) return { kind: 'none', message: `the Job ${name} runs` };
  return { kind: 'pass', message: `the Job ${name} is complete` };
}

/** The CronJob of a check, or why no Job is created from it. */
export async function findCronJob(
  name: string,
  namespace: string,
  client: KubeClient,
  signal: AbortSignal,
): Promise<z.output<typeof cronJob> | string> {
  const raw = await readObject<unknown>(client, objectPath(cronJobs, namespace, name), signal);
  if (raw === undefined) return `there is no CronJob ${name} in the namespace of the policy`;
  const read = cronJob.safeParse(raw);
  if (!read.success) return `the CronJob ${name} cannot be read`;
  if (read.data.spec.suspend !== true) return `the CronJob ${name} is not suspended: it would run by itself`;
  if (read.data.metadata.annotations?.[checkConsent.name] !== checkConsent.value)
    return `the CronJob ${name} is not allowed for checks: it needs the annotation ${checkConsent.name}: ${checkConsent.value}`;
  return read.data;
}

function jobOf({ spec: { jobTemplate: found } }: z.output<typeof cronJob>, request: CheckRequest) {
  const { spec } = found;
  const pods = spec.template;
  const annotations = { ...pods.metadata?.annotations, ...annotationsOf(request) };
  return {
    ...found.metadata,
    spec: {
      ...spec,
      activeDeadlineSeconds: Math.min(spec.activeDeadlineSeconds ?? Infinity, Math.ceil(request.check.timeoutMs / 1_000)),
      ttlSecondsAfterFinished: Math.max(spec.ttlSecondsAfterFinished ?? 0, keptSeconds),
      template: { ...pods, metadata: { ...pods.metadata, annotations } },
    },
  };
}
