import { DelayedError, UnrecoverableError, Worker, type Job } from 'bullmq';
import { WaitError, describeError } from '../model/errors.ts';
import { backoffMs, jobBackoff } from '../async/backoff.ts';
import { within } from '../async/deadline.ts';
import { isUnderstood, keptJobs, type QueueName } from './jobs.ts';
import type { QueueAccess } from './producer.ts';

/** What a processor may know of the job's life in the queue. */
export interface JobContext {
  readonly jobId: string;
  readonly name: string;
  /** 0 in the first try. */
  readonly failures: number;
  /** No other try follows this one: what fails now is failed for good. */
  readonly isLastTry: boolean;
  /** Aborted when the process stops: cut waiting short by throwing; another replica goes on at once. */
  readonly signal: AbortSignal;
}

/** Does the work of a job. Returns when all of it is confirmed; throws WaitError for "not before", anything else for "try again". */
export type Processor<T> = (data: T, context: JobContext) => Promise<void>;

export interface QueueWorker {
  start(): void;
  /** Takes nothing new; resolves when what is in hand is finished. What is not is taken up by another worker within seconds. */
  stop(deadlineMs: number): Promise<void>;
}

export interface WorkerOptions<T> {
  readonly access: QueueAccess;
  readonly queue: QueueName;
  readonly concurrency: number;
  /** The data as they may be worked with; throws where they cannot be read. */
  readonly read: (data: unknown) => T;
  readonly process: Processor<T>;
  readonly now: () => number;
  readonly random: () => number;
  /** How long a job pauses between two tries at most; 5 min unless given. */
  readonly longestPauseMs?: (data: T) => number;
}

/** A push that could not be brought to an end within a day is failed and visible; `replay` runs it again. */
const deadlineMs = 24 * 3_600_000;

/**
 * A worker of one queue. Locks and stall checks are short, and no number of crashes fails a job: BullMQ's defaults lose the jobs
 * of killed workers and notice after a minute (both measured).
 */
export function createWorker<T extends { readonly schema: number; readonly receivedAt?: string }>(options: WorkerOptions<T>): QueueWorker {
  const { access, queue, concurrency, read, now, random, longestPauseMs } = options;
  /** Whoever can write to Redis wrote the data: what cannot be read pauses as anything else does. An error here would leave the job where it is, for others to stumble over. */
  const pauseOf = (data: unknown): number | undefined => {
    try {
      return longestPauseMs?.(read(data));
    } catch {
      return undefined;
    }
  };
  const stopping = new AbortController();
  const worker = new Worker<T>(queue, (job, token) => run(job, token ?? '', options, stopping.signal), {
    connection: access.redis,
    prefix: access.prefix,
    autorun: false,
    concurrency,
    skipVersionCheck: true,
    lockDuration: 5_000,
    stalledInterval: 2_000,
    maxStalledCount: 1_000_000,
    drainDelay: 30,
    ...keptJobs,
    settings: {
      backoffStrategy: (failures, _type, _error, job) =>
        stopping.signal.aborted ? 0 : backoffMs(failures, random, { ...jobBackoff, maxMs: pauseOf(job?.data) ?? jobBackoff.maxMs }),
    },
  });
  worker.on('error', access.onError);
  let running: Promise<void> | undefined;
  return {
    start() {
      running ??= worker.run().catch(access.onError);
    },
    async stop(stopDeadlineMs) {
      const deadline = now() + stopDeadlineMs;
      const closed = worker.close();
      stopping.abort(new Error('the process is stopping'));
      // What is late, or waits for a Redis that is away, ends with the process: a second close(), forced or not, would only be the first one.
      await within(Math.max(0, deadline - now()), closed);
    },
  };
}

async function run<T extends { readonly schema: number; readonly receivedAt?: string }>(
  job: Job<T>,
  token: string,
  { process, read, now }: WorkerOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  // What has none is read below, and given up like everything that cannot be read.
  if (typeof job.data?.schema === 'number' && !isUnderstood(job.data))
    throw new Error(`the job has schema ${job.data.schema}: a newer version of the program must take it`);
  const expires = startOf(job) + deadlineMs;
  const isLastTry = now() >= expires;
  try {
    await process(read(job.data), { jobId: job.id ?? '', name: job.name, failures: job.attemptsMade, isLastTry, signal });
  } catch (error) {
    if (isLastTry) throw new UnrecoverableError(`given up after 24 h: ${describeError(error)}`);
    if (!(error instanceof WaitError)) throw error;
    await job.moveToDelayed(Math.min(error.until.getTime(), expires), token);
    throw new DelayedError();
  }
}

/** When the day of a job began: what it says of itself, unless that is no time, or later than it was to be done for the first time. */
function startOf({ data, timestamp, opts: { delay = 0 } }: Job<{ readonly receivedAt?: string } | null>): number {
  const received = Date.parse(data?.receivedAt ?? '');
  return Math.min(Number.isNaN(received) ? timestamp : received, timestamp + delay);
}
