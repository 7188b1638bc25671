import { DelayedError, UnrecoverableError, Worker, type Job, type MinimalJob } from 'bullmq';
import { WaitError, describeError } from '../../core/model/errors.ts';
import { backoffMs, jobBackoff } from '../../core/async/backoff.ts';
import { within } from '../../core/async/deadline.ts';
import { isUnderstood, keptJobs, type QueueName } from './jobs.ts';
import type { RunInSpan } from './job-spans.ts';
import type { QueueAccess } from './producer.ts';
import { createStoredTaker, type Insist } from './take-stored.ts';
import { createWaits, type Waits } from './waits.ts';

/** The state of a job in the queue, for its processor. */
export interface JobContext {
  readonly jobId: string;
  readonly name: string;
  /** How many tries of the job have failed before; 0 in the first try. */
  readonly failures: number;
  /** Whether the job was taken before: an earlier try may have recorded something, also one that only waited. */
  readonly isRepeated: boolean;
  /** Whether a failure is final, because no retry follows. */
  readonly isLastTry: boolean;
  /** Whether another worker had the job and was taken for dead. Its changes may not have reached this process yet. */
  readonly wasLost: boolean;
  /** Whether this worker still has the job; costs a request to Redis. The jobs of a worker that stands still go to others, and its results no longer count. */
  readonly isOurs: () => Promise<boolean>;
  /** Aborted when the process stops. A processor should then throw to end a wait early; another replica takes the job. */
  readonly signal: AbortSignal;
}

/** Processes a job. Returns when all of it is confirmed; throws WaitError to wait until a time, any other error to be retried. */
export type Processor<T> = (data: T, context: JobContext) => Promise<void>;

export interface QueueWorker {
  start(): void;
  /** Takes one job that `storedOn` stores; call it in the turn of the event loop that stores the job. Returns whether it does; without that option, never. */
  takeStored(): boolean;
  /** Takes no new jobs. Resolves when the running ones have finished. Another worker takes unfinished ones within seconds. */
  stop(deadlineMs: number): Promise<void>;
}

export interface WorkerOptions<T> {
  readonly access: QueueAccess;
  readonly queue: QueueName;
  readonly concurrency: number;
  /** How the same process stores jobs of the queue. If set, half of the concurrency is for jobs that are taken right after they are stored. */
  readonly storedOn?: QueueAccess | undefined;
  /** Validates the data of a job; throws if they cannot be read. */
  readonly read: (data: unknown) => T;
  readonly process: Processor<T>;
  /** Processes jobs in spans; absent if their traces are off. */
  readonly inSpan?: RunInSpan<T> | undefined;
  readonly now: () => number;
  readonly random: () => number;
  /** The longest pause between two tries in ms; 5 min unless given. */
  readonly longestPauseMs?: (data: T) => number;
}

/** How long a job is retried. A push that could not be completed within a day has failed and is visible; `replay` runs it again. */
const deadlineMs = 24 * 3_600_000;
const lockMs = 5_000;

/**
 * Creates a worker of one queue. Locks and stall checks are short, and no number of crashes fails a job. BullMQ's defaults would lose the jobs of killed
 * workers, and notice killed workers only after a minute (both measured).
 */
export function createWorker<T extends { readonly schema: number; readonly receivedAt?: string }>(options: WorkerOptions<T>): QueueWorker {
  const { access, queue, concurrency, storedOn, read, now, random, longestPauseMs } = options;
  /** The longest pause for the data, or undefined if they are unreadable. An error here would leave the job for other workers to fail on. */
  const pauseOf = (data: unknown): number | undefined => {
    try {
      return longestPauseMs?.(read(data));
    } catch {
      return undefined;
    }
  };
  const stopping = new AbortController();
  const waits = createWaits();
  const common = {
    prefix: access.prefix,
    autorun: false,
    skipVersionCheck: true,
    lockDuration: lockMs,
    stalledInterval: 2_000,
    maxStalledCount: 1_000_000,
    ...keptJobs,
    settings: {
      backoffStrategy(failures: number, _type?: string, _error?: Error, job?: MinimalJob) {
        if (stopping.signal.aborted) return 0;
        const pauseMs = backoffMs(failures, random, { ...jobBackoff, maxMs: pauseOf(job?.data) ?? jobBackoff.maxMs });
        return job === undefined ? pauseMs : waits.begin(job, pauseMs);
      },
    },
  };
  const forStored = storedOn === undefined ? 0 : Math.floor(concurrency / 2);
  const worker = new Worker<T>(queue, (job, token) => run(job, token ?? '', options, { waits, signal: stopping.signal }), {
    ...common,
    connection: access.redis,
    concurrency: concurrency - forStored,
  });
  worker.on('error', access.onError);
  const taker =
    storedOn &&
    createStoredTaker<T>({
      storedOn,
      queue,
      concurrency: forStored,
      common,
      process: (job, token, insist) => run(job, token, options, { waits, signal: stopping.signal, insist }),
      onError: access.onError,
    });
  let running: Promise<void> | undefined;
  return {
    takeStored: () => taker?.take() ?? false,
    start() {
      taker?.start();
      running ??= worker.run().catch(access.onError);
    },
    async stop(stopDeadlineMs) {
      const deadline = now() + stopDeadlineMs;
      const closed = Promise.all([worker.close(), taker?.stop()]);
      stopping.abort(new Error('the process is stopping'));
      // Late jobs, and jobs that wait for an unreachable Redis, end with the process. A second close(), forced or not, would only return the first one's
      // promise.
      await within(Math.max(0, deadline - now()), closed);
    },
  };
}

async function run<T extends { readonly schema: number; readonly receivedAt?: string }>(
  job: Job<T>,
  token: string,
  { process, inSpan, read, now }: WorkerOptions<T>,
  { waits, signal, insist = (command) => command() }: { readonly waits: Waits; readonly signal: AbortSignal; readonly insist?: Insist },
): Promise<void> {
  const pause = async (ms: number): Promise<never> => {
    await insist(() => job.moveToDelayed(now() + ms, token));
    throw new DelayedError();
  };
  const restMs = await waits.finish(job, signal);
  if (restMs > 0) return pause(restMs);
  // Data without a schema are not refused here: the read below fails, and the job is given up like every unreadable one.
  if (typeof job.data?.schema === 'number' && !isUnderstood(job.data))
    throw new Error(`the job has schema ${job.data.schema}: a newer version of the program must take it`);
  const expires = startOf(job) + deadlineMs;
  const isLastTry = now() >= expires;
  try {
    const isOurs = async () => (await job.extendLock(token, lockMs)) === 1;
    const wasLost = job.stalledCounter > 0;
    const data = read(job.data);
    const context = {
      jobId: job.id ?? '',
      name: job.name,
      failures: job.attemptsMade,
      isRepeated: job.attemptsStarted > 1,
      isLastTry,
      wasLost,
      isOurs,
      signal,
    };
    await (inSpan === undefined ? process(data, context) : inSpan(data, context, () => process(data, context)));
  } catch (error) {
    if (isLastTry) throw new UnrecoverableError(`given up after 24 h: ${describeError(error)}`);
    if (!(error instanceof WaitError)) throw error;
    return pause(waits.begin(job, Math.min(error.until.getTime(), expires) - now()));
  }
}

/** The start of a job's day: the time in its data, unless that is invalid or later than its first scheduled run. */
function startOf({ data, timestamp, opts: { delay = 0 } }: Job<{ readonly receivedAt?: string } | null>): number {
  const received = Date.parse(data?.receivedAt ?? '');
  return Math.min(Number.isNaN(received) ? timestamp : received, timestamp + delay);
}
