/** What travels through Redis: names, shapes, options. A rolling upgrade has both versions at work, so shapes only ever grow. */
import type { JobsOptions } from 'bullmq';
import { accessKey, type ImageSource } from '../model/image-source.ts';
import type { PolicyActions } from '../model/policy-actions.ts';
import type { TriggerSource } from '../model/policy-status.ts';
import { hashId, type PushEvent } from '../model/push-event.ts';

export const queueNames = ['push', 'policy', 'poll'] as const;
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

/** One pushed tag. */
export interface PushJob extends PushEvent, Versioned, Traced {}

/** One policy to reconcile, with where to look if something was announced. Nothing in it decides what is done: whoever can write to Redis wrote it. */
export interface PolicyJob extends Versioned, Traced {
  readonly policy: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly source: TriggerSource;
  /** Distinguishes causes, so that replicas that see the same one make one job: a push's id, a generation … */
  readonly cause: string;
  readonly receivedAt: string;
  /** The generation that the cause speaks of: whoever takes the job must not look at an older one. */
  readonly generation?: number;
  /** Of what rings when a wait is over: `until` is the wait's own end, `at` when the job may run. */
  readonly alarm?: { readonly until: string; readonly at: string };
  readonly eventId?: string;
  /** Who received the push. */
  readonly receiver?: string;
  readonly hint?: { readonly tag: string; readonly digest?: string };
  /** What users ask of the policy by annotations, where that is the cause: whoever takes the job must see it. */
  readonly actions?: PolicyActions;
  /** `rollout`: only to look how its changes roll out; without it, the policy is reconciled. */
  readonly task?: 'rollout';
  /** An alarm: not before this time. */
  readonly notBefore?: string;
}

/** One repository to list, for all policies that poll it in this interval with the same credentials. */
export interface PollJob extends Versioned {
  readonly repository: ImageSource;
  readonly intervalMs: number;
  readonly receivedAt: string;
}

/** Whether this version of the program understands a job; a newer replica's jobs are left to it. */
export function isUnderstood(data: { readonly schema?: number } | null): boolean {
  return data?.schema === schema;
}

/** The same cause for the same policy is one job, whichever replica saw it. */
export function policyJobId(job: Pick<PolicyJob, 'policy' | 'cause'>): string {
  return hashId([job.policy.uid, job.cause]);
}

/** A repository is polled once at a time for each interval and access: while a poll is tried again, the next one would do the same. */
export function pollJobId(job: Pick<PollJob, 'repository' | 'intervalMs'>): string {
  return hashId([job.repository.registry, job.repository.path, String(job.intervalMs), accessKey(job.repository)]);
}

/**
 * Completed jobs stay for an hour, which is how long a repeated delivery of a sender with ids is recognised; failed ones for a week, to be seen and replayed, but no more than so many:
 * an outage of days must not fill Redis. Said by workers: jobs would all have to carry it through Redis.
 */
export const keptJobs = {
  removeOnComplete: { age: 3_600, count: 100_000 },
  removeOnFail: { age: 7 * 24 * 3_600, count: 10_000 },
} as const;

/** Tries do not end by number but by age (see worker.ts); BullMQ's default would give up after one. */
export const jobOptions: JobsOptions = {
  attempts: 1_000_000,
  backoff: { type: 'custom' },
  // What went wrong is told without: it would double what a job that waits takes in Redis.
  stackTraceLimit: 0,
};

/** The cause of what `requested-at` asks for. */
export const requestCause = (value: string) => `request:${value}`;

/**
 * How a policy's job is kept. A request leaves nothing behind: the policy's status, which has the answer, keeps it from being done again, and the same may be
 * asked once something else was answered. A rollback stays: done twice, it would go back twice.
 */
export function policyOptions({ cause }: Pick<PolicyJob, 'cause'>): JobsOptions {
  return cause.startsWith(requestCause('')) ? { removeOnComplete: true } : {};
}

/** A poll leaves nothing behind: its id must be free for the next one. */
export const pollOptions: JobsOptions = { ...jobOptions, removeOnComplete: true, removeOnFail: true };
