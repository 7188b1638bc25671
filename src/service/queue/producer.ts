import { randomUUID } from 'node:crypto';
import { Queue, type JobsOptions } from 'bullmq';
import { hashId, type PushEvent } from '../../core/model/push-event.ts';
import type { RedisConnection } from './connection.ts';
import {
  baseOptions,
  jobOptions,
  noticeJobId,
  noticeOptions,
  policyJobId,
  policyOptions,
  pollJobId,
  pollOptions,
  schema,
  triggerJobId,
  triggerOptions,
  type BaseJob,
  type NoticeJob,
  summaryJobId,
  summaryOptions,
  type SummaryJob,
  type PolicyJob,
  type PollJob,
  type PushJob,
  type QueueName,
  type TriggerJob,
} from './jobs.ts';
import { createReplicatedWrite } from './replicated-write.ts';
import { currentTrace, sendSpan } from './job-spans.ts';
import { currentSpan } from '../telemetry/tracing.ts';

/** The Redis connection and prefix of the queues. */
export interface QueueAccess {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly onError: (error: Error) => void;
}

/** The queue that receivers add pushes to. */
export interface PushQueue {
  /**
   * Resolves when Redis has stored all pushes (on `minReplicas` replicas too), with the ids of their jobs; rejects when that is uncertain. Adding a push again
   * is harmless. Within a span, the jobs continue its trace.
   */
  add(events: readonly PushEvent[]): Promise<readonly PushEvent[]>;
}

/**
 * Creates a queue for pushes whose `add` is an acknowledgement. Replicas must confirm within `confirmWithinMs`, the write included. `onStoring` is called for
 * each push in the turn of the event loop that sends it to Redis.
 */
export function createPushQueue(
  access: QueueAccess,
  minReplicas: number,
  confirmWithinMs = 2_000,
  onStoring: (push: PushJob) => void = () => undefined,
): PushQueue {
  const queue = openQueue<PushJob>('push', access);
  const confirm = createReplicatedWrite(access.redis, access.prefix, { minReplicas, withinMs: confirmWithinMs });

  /** Adds the jobs to the queue; returns their ids. If it rejects, some of them may be stored, and adding them again is harmless. */
  const store = async (jobs: readonly NewPush[]): Promise<readonly string[]> => {
    const adding = jobs.map(({ name, data, opts }) => queue.add(name, data, opts));
    for (const { data } of jobs) onStoring(data);
    const added = await Promise.all(adding);
    return (await Promise.all(jobs.map((job, index) => confirmJob(job, added[index]?.id ?? job.data.id)))).flat();
  };
  /** The id of the job for a push. If BullMQ returned another `id`, that job is waiting: it gets this push's data, or a new job is added if it has started. */
  const confirmJob = async (job: NewPush, id: string): Promise<readonly string[]> =>
    id === job.data.id || (await joinWaiting(queue, { ...job.data, id }, job.opts)) ? [id] : store([job]);

  const add = async (events: readonly PushEvent[]): Promise<readonly PushEvent[]> => {
    const trace = currentTrace();
    const jobs = events.map((event) => newPush({ schema, ...event, ...trace }));
    let ids: readonly string[] = [];
    await confirm(async () => {
      ids = await store(jobs);
    });
    return events.map((event, index) => ({ ...event, id: ids[index] ?? event.id }));
  };
  return { add: (events) => currentSpan()?.step(sendSpan('push', events.length), () => add(events)) ?? add(events) };
}

type NewPush = ReturnType<typeof newPush>;
type PushJobs = ReturnType<typeof openQueue<PushJob>>;

/** The job for a push. If the sender gave no id, the push gets one, and is merged into an earlier job for the same push that has not started. */
function newPush({ isUnkeyed, ...data }: PushJob) {
  const { waitsUntil, receivedAt } = data;
  const options = waitsUntil === undefined ? {} : { delay: Math.max(0, Date.parse(waitsUntil) - Date.parse(receivedAt)) };
  if (isUnkeyed === undefined) return job('push', data, data.id, options);
  const id = hashId(['unkeyed', data.id, randomUUID()]);
  return job('push', { ...data, id }, id, { ...options, deduplication: { id: data.id } });
}

/**
 * Replaces the data of a waiting job with this push; returns whether the job had not started. Until a job starts, it is for the latest push, so the registry
 * gets the full time to show it. A job that has started may have asked too early, so nothing is merged into it.
 */
async function joinWaiting(queue: PushJobs, push: PushJob, { deduplication }: JobsOptions): Promise<boolean> {
  const job = await queue.getJob(push.id);
  if (job?.attemptsStarted === 0) {
    await job.updateData(push);
    // The job may have started before it had these data.
    if ((await queue.getJob(push.id))?.attemptsStarted === 0) return true;
  }
  if (deduplication !== undefined) await queue.removeDeduplicationKey(deduplication.id);
  return false;
}

/** The queues that workers add jobs to. */
export interface WorkQueues {
  addPolicyJobs(jobs: readonly PolicyJob[]): Promise<void>;
  /** Adds pushes that were processed before, each with a job of its own. */
  repeatPushes(pushes: readonly PushJob[]): Promise<void>;
  addBaseJobs(jobs: readonly BaseJob[]): Promise<void>;
  addTriggerJobs(jobs: readonly TriggerJob[]): Promise<void>;
  addNoticeJobs(jobs: readonly NoticeJob[]): Promise<void>;
  addSummaryJob(job: SummaryJob, delayMs: number): Promise<void>;
  addPolls(polls: readonly { readonly job: PollJob; readonly delayMs: number }[]): Promise<void>;
  /** Schedules one tick per `everyMs` in the whole cluster; idempotent. */
  scheduleTick(everyMs: number): Promise<void>;
  /** Removes completed jobs to free memory; returns how many. A repeated delivery of a removed push then makes a new event. */
  forgetCompleted(): Promise<number>;
  /** Removes up to `count` of the oldest failed jobs; returns how many. */
  forgetFailed(count: number): Promise<number>;
  /** The end of the period that ticks have covered, in ms since 1970; undefined before the first tick. */
  readLastTick(): Promise<number | undefined>;
  writeLastTick(at: number): Promise<void>;
  /** The time by the clock of Redis, which all replicas share, in ms since 1970. */
  readClock(): Promise<number>;
}

/** Queues for policies and polls. */
export function createWorkQueues(access: QueueAccess, now: () => number): WorkQueues {
  const pushes = openQueue<PushJob>('push', access);
  const policies = openQueue<PolicyJob>('policy', access);
  const polls = openQueue<PollJob | TickJob>('poll', access);
  const bases = openQueue<BaseJob>('base', access);
  const triggers = openQueue<TriggerJob>('trigger', access);
  const notices = openQueue<NoticeJob | SummaryJob>('notice', access);
  const checks = openQueue<PolicyJob>('check', access);
  const addPolicyJobs = async (jobs: readonly PolicyJob[]): Promise<void> => {
    await addTo(
      policies,
      jobs.filter((one) => !isCheck(one)),
    );
    await addTo(checks, jobs.filter(isCheck));
  };
  const addTo = async (queue: typeof policies, jobs: readonly PolicyJob[]): Promise<void> => {
    const trace = currentTrace();
    for (const part of partsOf(jobs))
      await queue.addBulk(
        part.map((data) => {
          // A check of rollouts continues the trace of the change, whoever adds its job.
          const traced = data.task !== undefined ? data : { ...data, ...trace };
          return job('policy', traced, policyJobId(data), { ...policyOptions(data), ...delayOf(data, now()) });
        }),
      );
  };
  return {
    addPolicyJobs: (jobs) => currentSpan()?.step(sendSpan('policy', jobs.length), () => addPolicyJobs(jobs)) ?? addPolicyJobs(jobs),
    async repeatPushes(repeated) {
      for (const part of partsOf(repeated))
        await pushes.addBulk(part.map((data) => job('push', data, hashId(['repeated', data.id, randomUUID()]), {})));
    },
    async addBaseJobs(jobs) {
      for (const part of partsOf(jobs))
        await bases.addBulk(part.map((data) => job('base', data, policyJobId(data), { ...baseOptions, ...delayOf(data, now()) })));
    },
    async addTriggerJobs(jobs) {
      for (const part of partsOf(jobs))
        await triggers.addBulk(part.map((data) => job('trigger', data, triggerJobId(data), triggerOptions)));
    },
    async addNoticeJobs(jobs) {
      for (const part of partsOf(jobs)) await notices.addBulk(part.map((data) => job('notice', data, noticeJobId(data), noticeOptions)));
    },
    async addSummaryJob(data, delayMs) {
      await notices.add('summary', data, { ...jobOptions, ...summaryOptions, delay: delayMs, jobId: summaryJobId(data) });
    },
    async addPolls(due) {
      for (const part of partsOf(due)) await polls.addBulk(part.map(pollOf));
    },
    async scheduleTick(everyMs) {
      const opts = { removeOnComplete: { count: 10 }, removeOnFail: { count: 10 }, attempts: 1 };
      await polls.upsertJobScheduler('poll-tick', { every: everyMs }, { name: 'tick', data: { schema }, opts });
    },
    async forgetCompleted() {
      let count = 0;
      for (const queue of [pushes, policies, notices, checks]) {
        // The event stream is trimmed because BullMQ's events are not used. Trimming works even in a completely full Redis.
        await queue.trimEvents(0);
        count += await clean(queue, 'completed', Infinity);
      }
      return count;
    },
    async forgetFailed(count) {
      // Failed jobs of policies are removed first, because the record of a push also holds its failures at policies.
      const ofPolicies = await clean(policies, 'failed', count);
      return ofPolicies + (await clean(pushes, 'failed', count - ofPolicies));
    },
    async readLastTick() {
      const value = await access.redis.get(`${access.prefix}:poll:ticked`);
      return value === null ? undefined : Number(value);
    },
    async readClock() {
      const [seconds, microseconds] = await access.redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
    },
    async writeLastTick(at) {
      await access.redis.set(`${access.prefix}:poll:ticked`, String(at));
    },
  };
}

/** The scheduler's own job, which enqueues the polls that are due. */
export interface TickJob {
  readonly schema: typeof schema;
}

/** A queue of BullMQ on a shared connection, so it is never closed. */
export function openQueue<T>(name: QueueName, { redis, prefix, onError }: QueueAccess): Queue<T, unknown, string, T, unknown, string> {
  const options = { connection: redis, prefix, skipVersionCheck: true, skipWaitingForReady: true };
  const queue = new Queue<T, unknown, string, T, unknown, string>(name, options);
  queue.on('error', onError);
  return queue;
}

/** Removes finished jobs, the oldest first; returns how many. */
async function clean(queue: Pick<Queue, 'clean' | 'getJobCountByTypes'>, state: 'completed' | 'failed', count: number): Promise<number> {
  let removed = 0;
  // The count is read first because BullMQ would write even if there is nothing to clean, which a full Redis refuses.
  while (removed < count && (await queue.getJobCountByTypes(state)) > 0) {
    const { length } = await queue.clean(0, Math.min(bulkSize, count - removed), state);
    if (length === 0) break;
    removed += length;
  }
  return removed;
}

/** How long a job is delayed, in ms. */
function delayOf({ wait, notBefore = wait?.at }: Pick<PolicyJob, 'wait' | 'notBefore'>, now: number): JobsOptions {
  return notBefore === undefined ? {} : { delay: Math.max(0, Date.parse(notBefore) - now) };
}

function job<T>(name: string, data: T, jobId: string, options: JobsOptions = {}): { name: string; data: T; opts: JobsOptions } {
  return { name, data, opts: { ...jobOptions, ...options, jobId } };
}

function pollOf({ job, delayMs }: { readonly job: PollJob; readonly delayMs: number }) {
  return { name: 'poll', data: job, opts: { ...pollOptions, jobId: pollJobId(job), delay: delayMs } };
}

/** Checks have a queue of their own, because endpoints of tenants may be slow. */
const isCheck = ({ task }: PolicyJob) => task === 'check';

/** The number of jobs that one transaction sends to Redis. */
const bulkSize = 500;

function* partsOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += bulkSize) yield items.slice(start, start + bulkSize);
}
