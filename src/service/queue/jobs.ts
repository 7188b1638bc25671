/** The jobs in Redis: queue names, data and options. During a rolling upgrade both versions read them, so fields are only ever added. */
import type { JobsOptions } from 'bullmq';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';
import type { Repository } from '../../core/model/image-reference.ts';
import type { Notice } from '../../core/model/notice.ts';
import type { PolicyActions } from '../../core/model/policy-actions.ts';
import type { TriggerSource } from '../../core/model/policy-status.ts';
import { hashId, type PushEvent } from '../../core/model/push-event.ts';

export const queueNames = ['push', 'policy', 'poll', 'base', 'trigger', 'notice', 'check'] as const;
export type QueueName = (typeof queueNames)[number];

/** The version of every job's shape below. */
export const schema = 1;

interface Versioned {
  readonly schema: typeof schema;
}

/** The trace that the job belongs to, as W3C Trace Context writes it; absent where traces are off. */
interface Traced {
  readonly traceparent?: string;
}

/** The job of a push: one pushed tag. */
export interface PushJob extends PushEvent, Versioned, Traced {}

/** One policy of either kind to reconcile. The data are not trusted, because anybody with write access to Redis may have written them. */
interface ReconcileJob extends Versioned {
  readonly policy: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly source: TriggerSource;
  /** Identifies the cause (a push's id, a generation …), so that replicas that see the same one make one job. */
  readonly cause: string;
  readonly receivedAt: string;
  /** The policy's generation that the cause refers to. A worker must not reconcile an older one. */
  readonly generation?: number;
  /** The push that caused the job. */
  readonly eventId?: string;
  /** The image that the push announced. */
  readonly hint?: { readonly tag: string; readonly digest?: string; readonly repository?: Repository };
  /** The job is delayed until this time. */
  readonly notBefore?: string;
}

/** One ImagePolicy to reconcile. */
export interface PolicyJob extends ReconcileJob, Traced {
  /** The wait that this delayed job ends: `until` is the end of the wait, `at` the earliest time for the job. */
  readonly wait?: { readonly until: string; readonly at: string };
  /** The receiver that accepted the push. */
  readonly receiver?: string;
  /** The user's requests in annotations, if they are the cause of the job. A worker must see them before it reconciles. */
  readonly actions?: PolicyActions;
  /** `rollout`: the job only checks the policy's rollouts. `check`: it asks one check, in the queue `check`. Without a task, it reconciles the policy. */
  readonly task?: 'rollout' | 'check';
  /** The id of the check that is asked. */
  readonly check?: string;
}

/** One repository to list, for all policies that poll it in this interval with the same credentials. */
export interface PollJob extends Versioned {
  readonly repository: ImageSource;
  readonly intervalMs: number;
  readonly receivedAt: string;
}

/** A repository with the report of a new scan, for the policies that ask for it. In the queue `poll`. */
export interface ScanJob extends Versioned {
  readonly scanned: Repository;
  /** The receiver that was told about the scan. */
  readonly receiver: string;
  readonly receivedAt: string;
}

/** One BaseImagePolicy to reconcile. */
export interface BaseJob extends ReconcileJob {
  /** The repository of an application that was pushed. What is known of its tags is outdated. */
  readonly pushed?: Repository;
}

/** One rebuild to request from a CI system. The data are not trusted: the CI system and its Secret come from the policy. */
export interface TriggerJob extends Versioned {
  readonly policy: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Identifies the action of the policy that requests the rebuild. */
  readonly pipeline: string;
  readonly base: { readonly repository: string; readonly tag: string; readonly digest: string };
  readonly source: string;
  readonly image: string;
  /** The time of the record of an earlier request, if this job repeats the same rebuild on purpose. */
  readonly after?: string;
  readonly receivedAt: string;
}

/** One notice for one target of the configuration. The data are not trusted: the target's address and secrets come from the configuration. */
export interface NoticeJob extends Versioned {
  /** The name of the target that is notified. */
  readonly target: string;
  /** Identifies the event of the notice, so that a repetition makes no second job. */
  readonly identity: readonly string[];
  readonly notice: Notice;
  readonly receivedAt: string;
}

/** Sends what was held back for a target of notifications, as one message. */
export interface SummaryJob extends Versioned {
  readonly target: string;
  readonly group: number;
  readonly receivedAt: string;
}

/** Builds the job that reconciles a policy. */
export function policyJob({ namespace, name, uid }: PolicyJob['policy'], job: Omit<PolicyJob, 'schema' | 'policy'>): PolicyJob {
  return { schema, policy: { namespace, name, uid }, ...job };
}

/** Whether this version of the program understands a job. Jobs of a newer version are left to newer replicas. */
export function isUnderstood(data: { readonly schema?: number } | null): boolean {
  return data?.schema === schema;
}

/** The job id of a policy. The same cause for the same policy makes one job, whichever replica saw it. */
export function policyJobId(job: Pick<PolicyJob | BaseJob, 'policy' | 'cause'>): string {
  return hashId([job.policy.uid, job.cause]);
}

/** The job id of a rebuild, which CI systems also see. A rebuild is requested once for each policy, base, pipeline and source. */
export function triggerJobId({
  policy,
  base,
  pipeline,
  source,
  after = '',
}: Pick<TriggerJob, 'policy' | 'base' | 'pipeline' | 'source' | 'after'>): string {
  return hashId([policy.uid, base.digest, pipeline, source, after]);
}

/** The job id of a notice, which targets also see. Each target gets a notice once. */
export function noticeJobId({ target, identity }: Pick<NoticeJob, 'target' | 'identity'>): string {
  return hashId([target, ...identity]);
}

/** The job id of a summary. Each group of held notices has one summary. */
export function summaryJobId({ target, group }: Pick<SummaryJob, 'target' | 'group'>): string {
  return hashId(['summary', target, String(group)]);
}

/** The job id of a scan's report. The images of a repository are scanned together, so its waiting job is for all of them. */
export function scanJobId({ scanned, receiver }: Pick<ScanJob, 'scanned' | 'receiver'>): string {
  return hashId(['scan', receiver, scanned.registry, scanned.path]);
}

/** The job id of a poll. Each repository, interval and access has one poll at a time, because a second one would repeat the first while that is retried. */
export function pollJobId(job: Pick<PollJob, 'repository' | 'intervalMs'>): string {
  return hashId([job.repository.registry, job.repository.path, String(job.intervalMs), accessKey(job.repository)]);
}

/**
 * How long finished jobs are kept. Completed ones: an hour, in which a repeated delivery from a sender with ids is recognised. Failed ones: a week, to be seen
 * and replayed, and not too many, so that an outage of days does not fill Redis. Workers set this, so that jobs need not carry it through Redis.
 */
export const keptJobs = {
  removeOnComplete: { age: 3_600, count: 100_000 },
  removeOnFail: { age: 7 * 24 * 3_600, count: 10_000 },
} as const;

/** The options of all jobs. Retries end by age, not by number (see worker.ts); by BullMQ's default, a job would fail after one try. */
export const jobOptions: JobsOptions = {
  attempts: 1_000_000,
  backoff: { type: 'custom' },
  // Stack traces are not needed to report errors, and would double the memory of a waiting job in Redis.
  stackTraceLimit: 0,
};

/** The cause of a job for the annotation `requested-at`. */
export const requestCause = (value: string) => `request:${value}`;

/**
 * How long a policy's job is kept. The job of a request is removed when it is done: the status holds the answer, which prevents a repetition, and a user may
 * make the same request again after another one. The job of a rollback is kept, because a second run would roll back twice.
 */
export function policyOptions({ cause }: Pick<PolicyJob, 'cause'>): JobsOptions {
  return cause.startsWith(requestCause('')) ? { removeOnComplete: true } : {};
}

/** The job of a BaseImagePolicy is removed when it is over. Its status holds the result, and the same cause may occur again. */
export const baseOptions: JobsOptions = { removeOnComplete: true, removeOnFail: true };

/** The job of a rebuild is removed when it is done. The rebuild's record holds its state. */
export const triggerOptions: JobsOptions = { removeOnComplete: true, removeOnFail: true };

/** The job of a notice is kept after its success, so that a repetition is recognised. A failed job is removed, so that it does not stop the next one. */
export const noticeOptions: JobsOptions = { removeOnComplete: { age: 3_600, count: 10_000 }, removeOnFail: true };

/** The job of a summary is removed when it is over, because its group is gone. */
export const summaryOptions: JobsOptions = { removeOnComplete: true, removeOnFail: true };

/** A poll's job is removed when it is over, because the next poll needs its id. */
export const pollOptions: JobsOptions = { ...jobOptions, removeOnComplete: true, removeOnFail: true };
