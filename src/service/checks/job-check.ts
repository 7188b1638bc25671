/** A check by a Job that is made from a suspended CronJob in the namespace of the policy. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import type { CheckQuestion } from '../../core/model/rollout-check.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { listPath, objectPath, readObject } from '../kube/objects.ts';
import type { AskedAnswer, CheckRequest } from '../reconcile/checks/check-request.ts';
import type { CheckMeans } from './check-means.ts';

const jobs = { apiVersion: 'batch/v1', resource: 'jobs' } as const;
const cronJobs = { apiVersion: 'batch/v1', resource: 'cronjobs' } as const;
const prefix = 'operator.technomad.dev';
/** The annotation with which the owner of a CronJob allows it for checks, and its value. */
export const jobConsent = { name: `${prefix}/check`, value: 'allow' } as const;
const idAnnotation = `${prefix}/check-id`;
/** How long a finished Job is kept, at least: until its verdict is stored for sure. */
const keptSeconds = 3_600;

const texts = z.record(z.string(), z.string());
const metadata = z.object({ labels: texts.exactOptional(), annotations: texts.exactOptional() });
const template = z.looseObject({
  ttlSecondsAfterFinished: z.number().exactOptional(),
  activeDeadlineSeconds: z.number().exactOptional(),
  template: z.looseObject({ metadata: metadata.loose().exactOptional() }),
});
const cronJob = z.object({
  metadata: z.object({ annotations: texts.exactOptional() }),
  spec: z.object({ suspend: z.boolean().exactOptional(), jobTemplate: z.object({ metadata: metadata.exactOptional(), spec: template }) }),
});
const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().exactOptional(),
  message: z.string().exactOptional(),
});
const job = z.object({
  metadata: z.object({ annotations: texts.exactOptional() }),
  status: z.object({ conditions: z.array(condition).exactOptional() }).exactOptional(),
});

/** The name of the Job of a check: the same for each question, and another one when the check is begun anew. */
export function jobNameOf({ check, record }: Pick<CheckRequest, 'check' | 'record'>): string {
  return `${check.name.slice(0, 40).replace(/-+$/, '')}-${record.id.slice(0, 20)}`;
}

/** Reads the Job, or creates it unless the status says that it was created. */
export async function askJob(
  question: Extract<CheckQuestion, { kind: 'job' }>,
  request: CheckRequest,
  means: CheckMeans,
): Promise<AskedAnswer> {
  if (!means.jobs) return { kind: 'none', message: 'this installation runs no Jobs for checks: checks.jobs of the configuration' };
  const { policy, record, signal } = request;
  const name = jobNameOf(request);
  const found = await readObject<unknown>(means.client, objectPath(jobs, policy.namespace, name), signal);
  if (found !== undefined) return readJob(found, name, request);
  if (record.job === true) return { kind: 'none', message: `the Job ${name} is gone before it had a verdict` };
  const made = await makeJob(question.cronJob, name, request, means);
  if (typeof made === 'string') return { kind: 'none', message: made };
  try {
    await means.client.request({ method: 'POST', path: listPath(jobs, policy.namespace), body: made, signal });
  } catch (error) {
    // Another replica was faster: the next question reads it.
    if (!isKubeError(error, 409)) throw error;
  }
  return { kind: 'none', message: `the Job ${name} runs`, created: true };
}

function readJob(found: unknown, name: string, { record }: CheckRequest): AskedAnswer {
  const read = job.safeParse(found);
  if (!read.success) return { kind: 'none', message: `the Job ${name} cannot be read` };
  const {
    metadata: { annotations = {} },
    status,
  } = read.data;
  if (annotations[idAnnotation] !== record.id) return { kind: 'none', message: `the Job ${name} was not made for this check` };
  const conditions = status?.conditions ?? [];
  const trueOf = (type: string) => conditions.find((one) => one.type === type && one.status === 'True');
  const failed = trueOf('Failed');
  // That it took too long says nothing about the image.
  if (failed?.reason === 'DeadlineExceeded') return { kind: 'none', message: `the Job ${name} took too long`, created: true };
  if (failed !== undefined)
    return { kind: 'fail', message: `the Job ${name} failed: ${failed.message ?? failed.reason ?? ''}`, created: true };
  return trueOf('Complete') === undefined
    ? { kind: 'none', message: `the Job ${name} runs`, created: true }
    : { kind: 'pass', message: `the Job ${name} is complete`, created: true };
}

/** The Job to create, or why there is none. */
async function makeJob(cronJobName: string, name: string, request: CheckRequest, { client }: CheckMeans): Promise<object | string> {
  const { policy, check, record, image, signal } = request;
  const raw = await readObject<unknown>(client, objectPath(cronJobs, policy.namespace, cronJobName), signal);
  if (raw === undefined) return `there is no CronJob ${cronJobName} in the namespace of the policy`;
  const read = cronJob.safeParse(raw);
  if (!read.success) return `the CronJob ${cronJobName} cannot be read`;
  const {
    metadata: { annotations = {} },
    spec,
  } = read.data;
  if (spec.suspend !== true) return `the CronJob ${cronJobName} is not suspended: it would run by itself`;
  if (annotations[jobConsent.name] !== jobConsent.value)
    return `the CronJob ${cronJobName} is not allowed for checks: it needs the annotation ${jobConsent.name}: ${jobConsent.value}`;
  const { jobTemplate } = spec;
  const pods = jobTemplate.spec.template;
  const told = {
    [idAnnotation]: record.id,
    [`${prefix}/check-policy`]: policy.name,
    [`${prefix}/check-phase`]: check.phase,
    [`${prefix}/check-image`]: image,
    [`${prefix}/check-tag`]: record.tag,
    ...defined({ [`${prefix}/check-digest`]: record.digest }),
  };
  return {
    apiVersion: jobs.apiVersion,
    kind: 'Job',
    metadata: {
      name,
      namespace: policy.namespace,
      ...defined({ labels: jobTemplate.metadata?.labels }),
      annotations: { ...jobTemplate.metadata?.annotations, ...told },
      ownerReferences: [{ apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', name: policy.name, uid: policy.uid }],
    },
    spec: {
      ...jobTemplate.spec,
      activeDeadlineSeconds: Math.min(jobTemplate.spec.activeDeadlineSeconds ?? Infinity, Math.ceil(check.timeoutMs / 1_000)),
      ttlSecondsAfterFinished: Math.max(jobTemplate.spec.ttlSecondsAfterFinished ?? 0, keptSeconds),
      template: { ...pods, metadata: { ...pods.metadata, annotations: { ...pods.metadata?.annotations, ...told } } },
    },
  };
}
