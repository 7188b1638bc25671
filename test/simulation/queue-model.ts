/**
 * The queues of src/service/queue in memory: the same jobs, options and retries, with BullMQ and Redis modelled by `job-store.ts`. All time is that of Date and setTimeout,
 * so that mocked timers drive it. `queue-model.test.ts` compares it with the real one.
 */
import { hashId } from '../../src/core/model/push-event.ts';
import * as jobs from '../../src/service/queue/jobs.ts';
import type { PushQueue, WorkQueues } from '../../src/service/queue/producer.ts';
import type { Processor, QueueWorker, WorkerOptions } from '../../src/service/queue/worker.ts';
import { createJobStore, type JobStore } from './job-store.ts';
import { createWorker } from './worker-model.ts';

/** Redis, which several replicas connect to. */
export interface QueueModel {
  /** A process that has just started. */
  connect(options?: ConnectOptions): QueueReplica;
  /** What Redis holds. */
  readonly stores: Readonly<Record<jobs.QueueName, JobStore>>;
  /** When the tries of each job ended that were not the last one, whoever made them. */
  readonly failedTries: ReadonlyMap<string, readonly number[]>;
  /** Redis has lost its data. */
  wipe(): void;
}

export interface ConnectOptions {
  /** The clock of this replica, which may differ from that of Redis. */
  readonly now?: () => number;
  /**
   * Sends a command to Redis: runs it, at once unless given. May take time; may run it twice, as a connection does that was lost before the answer; a receiver's may
   * reject, a worker's must not, because the real one waits until Redis is back.
   */
  readonly send?: <T>(command: () => T) => Promise<T>;
}

/** One process, and what it has of the queues. */
export interface QueueReplica {
  readonly pushes: PushQueue;
  readonly queues: WorkQueues;
  createWorker<T extends { readonly schema: number; readonly receivedAt?: string }>(
    options: Omit<WorkerOptions<T>, 'access' | 'now'>,
  ): Pick<QueueWorker, 'start' | 'stop'>;
  /** The process dies: what it has asked is never answered, and its jobs are taken again when their locks have ended. */
  crash(): void;
  /** The process stands still: what it asks, and what it is answered, waits until `thaw`. Its jobs are taken again meanwhile. */
  freeze(): void;
  thaw(): void;
}

/** Sends a command to Redis. */
export type Send = <T>(command: () => T) => Promise<T>;

/** The queues of a new Redis, which has a clock of its own. */
export function createQueueModel(clock: () => number = Date.now): QueueModel {
  const stores = Object.fromEntries(jobs.queueNames.map((name) => [name, createJobStore(clock)])) as Record<jobs.QueueName, JobStore>;
  const values = new Map<string, number>();
  const failedTries = new Map<string, number[]>();
  let unkeyed = 0;
  let tokens = 0;
  const noted =
    <T>(queue: jobs.QueueName, process: Processor<T>): Processor<T> =>
    (data, context) =>
      process(data, context).catch((error: unknown) => {
        const key = `${queue} ${context.jobId}`;
        failedTries.set(key, [...(failedTries.get(key) ?? []), clock()]);
        throw error;
      });
  return {
    stores,
    failedTries,
    connect({ now = Date.now, send: reach = async <T>(command: () => T) => command() } = {}) {
      const life = createLife();
      const send: Send = async (command) => {
        await life.goesOn();
        const answer = await reach(command);
        await life.goesOn();
        return answer;
      };
      return {
        ...life,
        pushes: createPushes(stores.push, send, now, () => String(unkeyed++)),
        queues: createQueues({ stores, values, clock, unique: () => String(unkeyed++) }, send, now),
        createWorker: (options) =>
          createWorker(
            stores[options.queue],
            { ...options, now, process: noted(options.queue, options.process) },
            { send, dying: life.dying, unique: () => String(tokens++) },
          ),
      };
    },
    wipe() {
      for (const store of Object.values(stores)) store.wipe();
      values.clear();
    },
  };
}

/** Whether a process goes on. */
function createLife() {
  let gate: Promise<void> = Promise.resolve();
  let open: (() => void) | undefined;
  const dying = new AbortController();
  return {
    async goesOn(): Promise<void> {
      for (let passed; passed !== gate;) await (passed = gate);
    },
    dying: dying.signal,
    crash() {
      gate = new Promise(() => undefined);
      dying.abort();
    },
    freeze() {
      if (open === undefined && !dying.signal.aborted) gate = new Promise((resolve) => (open = resolve));
    },
    thaw() {
      if (!dying.signal.aborted) gate = Promise.resolve();
      open?.();
      open = undefined;
    },
  };
}

function createPushes(store: JobStore, send: Send, now: () => number, unique: () => string): PushQueue {
  const add = async (data: jobs.PushJob, opts: { readonly deduplication?: { readonly id: string } }): Promise<string> => {
    const id = await send(() => store.add(optionsOf('push', data, data.id, opts), now()));
    const { deduplication } = opts;
    if (id === data.id || deduplication === undefined) return id;
    return (await send(() => store.join(id, deduplication.id, { ...data, id }))) ? id : add(data, opts);
  };
  return {
    async add(events) {
      const ids = await Promise.all(
        events.map(({ isUnkeyed, ...event }) => {
          const push = { schema: jobs.schema, ...event } as const;
          if (isUnkeyed === undefined) return add(push, {});
          return add({ ...push, id: hashId(['unkeyed', event.id, unique()]) }, { deduplication: { id: event.id } });
        }),
      );
      return events.map((event, index) => ({ ...event, id: ids[index] ?? event.id }));
    },
  };
}

interface Redis {
  readonly stores: Readonly<Record<jobs.QueueName, JobStore>>;
  readonly values: Map<string, number>;
  readonly clock: () => number;
  readonly unique: () => string;
}

function createQueues({ stores, values, clock, unique }: Redis, send: Send, now: () => number): WorkQueues {
  const addAll = async (queue: jobs.QueueName, added: readonly ReturnType<typeof optionsOf>[]): Promise<void> => {
    if (added.length > 0) await send(() => added.forEach((job) => stores[queue].add(job, now())));
  };
  const delayOf = ({ wait, notBefore = wait?.at }: Pick<jobs.PolicyJob, 'wait' | 'notBefore'>) =>
    notBefore === undefined ? {} : { delay: Math.max(0, Date.parse(notBefore) - now()) };
  return {
    async addPolicyJobs(list) {
      const optionsOfJob = (job: jobs.PolicyJob) =>
        optionsOf('policy', job, jobs.policyJobId(job), { ...jobs.policyOptions(job), ...delayOf(job) });
      const isCheck = ({ task }: jobs.PolicyJob) => task === 'check';
      await addAll('policy', list.filter((job) => !isCheck(job)).map(optionsOfJob));
      await addAll('check', list.filter(isCheck).map(optionsOfJob));
    },
    repeatPushes: (list) =>
      addAll(
        'push',
        list.map((push) => optionsOf('push', push, hashId(['repeated', push.id, unique()]), {})),
      ),
    addBaseJobs: (list) =>
      addAll(
        'base',
        list.map((job) => optionsOf('base', job, jobs.policyJobId(job), { ...jobs.baseOptions, ...delayOf(job) })),
      ),
    addTriggerJobs: (list) =>
      addAll(
        'trigger',
        list.map((job) => optionsOf('trigger', job, jobs.triggerJobId(job), jobs.triggerOptions)),
      ),
    addNoticeJobs: (list) =>
      addAll(
        'notice',
        list.map((job) => optionsOf('notice', job, jobs.noticeJobId(job), jobs.noticeOptions)),
      ),
    addSummaryJob: (job, delay) => addAll('notice', [optionsOf('summary', job, jobs.summaryJobId(job), { ...jobs.summaryOptions, delay })]),
    addPolls: (list) =>
      addAll(
        'poll',
        list.map(({ job, delayMs }) => optionsOf('poll', job, jobs.pollJobId(job), { ...jobs.pollOptions, delay: delayMs })),
      ),
    async scheduleTick(everyMs) {
      const opts = { removeOnComplete: { count: 10 }, removeOnFail: { count: 10 }, attempts: 1 };
      await send(() => stores.poll.schedule('poll-tick', everyMs, { name: 'tick', data: { schema: jobs.schema }, opts }, now()));
    },
    forgetCompleted: () =>
      send(() =>
        [stores.push, stores.policy, stores.notice, stores.check].reduce((sum, store) => sum + store.forget('completed', Infinity), 0),
      ),
    forgetFailed: (count) =>
      send(() => {
        const ofPolicies = stores.policy.forget('failed', count);
        return ofPolicies + stores.push.forget('failed', count - ofPolicies);
      }),
    readLastTick: () => send(() => values.get('ticked')),
    writeLastTick: (at) => send(() => void values.set('ticked', at)),
    readClock: () => send(clock),
  };
}

function optionsOf(name: string, data: unknown, jobId: string, opts: Parameters<JobStore['add']>[0]['opts']) {
  return { name, data, opts: { ...jobs.jobOptions, ...opts, jobId } };
}
