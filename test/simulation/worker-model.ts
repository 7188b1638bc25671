/** A worker of src/service/queue/worker.ts, and of BullMQ below it: takes jobs in their order, renews its locks, looks for jobs of lost workers, and ends tries as the real one does. */
import { backoffMs, jobBackoff } from '../../src/core/async/backoff.ts';
import { within } from '../../src/core/async/deadline.ts';
import { WaitError } from '../../src/core/model/errors.ts';
import { keptJobs, schema as ownSchema } from '../../src/service/queue/jobs.ts';
import { createWaits } from '../../src/service/queue/waits.ts';
import type { QueueWorker, WorkerOptions } from '../../src/service/queue/worker.ts';
import type { JobStore, Kept, TakenJob } from './job-store.ts';
import type { Send } from './queue-model.ts';

/** As in src/service/queue/worker.ts. */
const lockMs = 5_000;
const stalledMs = 2_000;
const drainDelayMs = 30_000;
const dayMs = 24 * 3_600_000;
/** As in BullMQ. */
const renewMs = lockMs / 4;
const longestBlockMs = 10_000;

/** How a try ended, as a command to Redis. */
type Ending = (token: string) => void;

/** The process that a worker is in. */
export interface WorkerProcess {
  readonly send: Send;
  readonly dying: AbortSignal;
  /** A new word at each call. */
  readonly unique: () => string;
}

/** Creates a worker; it is not started. */
export function createWorker<T extends { readonly schema: number; readonly receivedAt?: string }>(
  store: JobStore,
  options: Omit<WorkerOptions<T>, 'access'>,
  { send, dying, unique }: WorkerProcess,
): Pick<QueueWorker, 'start' | 'stop'> {
  const { concurrency, now, random, longestPauseMs, process, read } = options;
  const stopping = new AbortController();
  const waits = createWaits();
  const locks = new Map<string, { readonly job: TakenJob; renewedAt: number }>();
  let isDrained = false;
  let blockedUntil: number | undefined;

  const take = (token: string): TakenJob | undefined => {
    const taken = store.take(token, now(), lockMs);
    isDrained = taken.job === undefined;
    if (taken.job === undefined) blockedUntil = taken.dueAt;
    else if (taken.job.name === 'tick') store.scheduleNext(taken.job.id, now());
    return taken.job;
  };
  const pauseOf = (data: unknown): number | undefined => {
    try {
      return longestPauseMs?.(read(data));
    } catch {
      return undefined;
    }
  };
  const fail = ({ id, opts }: TakenJob): Ending => {
    const kept = keptOf(opts.removeOnFail, keptJobs.removeOnFail);
    return (token) => store.fail(id, token, now(), kept);
  };
  const retry = (job: TakenJob): Ending => {
    if (job.attemptsMade + 1 >= (job.opts.attempts ?? 1)) return fail(job);
    const longest = { ...jobBackoff, maxMs: pauseOf(job.data) ?? jobBackoff.maxMs };
    const pauseMs = stopping.signal.aborted ? 0 : waits.begin(job, backoffMs(job.attemptsMade + 1, random, longest));
    return (token) => store.retry(job.id, token, now(), pauseMs);
  };
  /** One try, as in src/service/queue/worker.ts. */
  const run = async (job: TakenJob, token: string): Promise<Ending> => {
    const { id, name, data, attemptsMade: failures, opts } = job;
    const pause = (ms: number): Ending => {
      const until = now() + ms;
      return (token) => store.delay(id, token, now(), until);
    };
    const restMs = await waits.finish(job, stopping.signal);
    if (restMs > 0) return pause(restMs);
    const { schema } = (data ?? {}) as { readonly schema?: unknown };
    if (typeof schema === 'number' && schema !== ownSchema) return retry(job);
    const expires = startOf(job) + dayMs;
    const isLastTry = now() >= expires;
    try {
      const isOurs = () => send(() => store.extend(id, token, lockMs));
      const context = { jobId: id, name, failures, isRepeated: job.starts > 1, isLastTry, wasLost: job.stalledCounter > 0 };
      await process(read(data), { ...context, isOurs, signal: stopping.signal });
      const kept = keptOf(opts.removeOnComplete, keptJobs.removeOnComplete);
      return (token) => store.complete(id, token, now(), kept);
    } catch (error) {
      if (isLastTry) return fail(job);
      if (!(error instanceof WaitError)) return retry(job);
      return pause(waits.begin(job, Math.min(error.until.getTime(), expires) - now()));
    }
  };
  /** Processes a job, then those that are taken as it ends. */
  const work = async (job: TakenJob, token: string): Promise<void> => {
    locks.set(token, { job, renewedAt: now() });
    const end = await run(job, token);
    const next = await send(() => {
      locks.delete(token);
      try {
        end(token);
      } catch {
        // Another worker has the job: nothing that this one says counts.
        return undefined;
      }
      return stopping.signal.aborted ? undefined : take(token);
    });
    if (next !== undefined) await work(next, token);
  };

  const slots = new Set<Promise<void>>();
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if (slots.size >= concurrency) await Promise.race(slots);
      else if (isDrained) await waitForJob();
      else {
        const token = unique();
        const job = await send(() => (stopping.signal.aborted ? undefined : take(token)));
        if (job === undefined) continue;
        const slot = work(job, token).finally(() => slots.delete(slot));
        slots.add(slot);
      }
    }
    await Promise.all(slots);
  };
  let endWait = (): void => undefined;
  for (const signal of [dying, stopping.signal]) signal.addEventListener('abort', () => endWait());
  const waitForJob = async (): Promise<void> => {
    const longestMs = blockedUntil === undefined ? drainDelayMs : Math.min(Math.max(blockedUntil - now(), 2), longestBlockMs);
    const { found, end } = store.marker.wait(longestMs);
    endWait = end;
    const at = await found;
    await send(() => undefined);
    blockedUntil = at !== undefined && blockedUntil !== undefined ? Math.min(at, blockedUntil) : at;
    isDrained = (blockedUntil ?? 0) - now() >= 1;
  };
  const repeat = async (everyMs: number, command: () => void): Promise<void> => {
    while (!over.signal.aborted && !dying.aborted) {
      await send(command);
      await pause(everyMs);
    }
  };
  const renew = () => {
    for (const [token, lock] of locks) {
      if (lock.renewedAt + renewMs >= now()) continue;
      lock.renewedAt = now();
      store.extend(lock.job.id, token, lockMs);
    }
  };
  const over = new AbortController();
  let running: Promise<void> | undefined;
  return {
    start() {
      if (running !== undefined) return;
      running = loop();
      void repeat(renewMs, renew);
      void repeat(stalledMs, () => store.checkStalled(stalledMs));
    },
    async stop(deadlineMs) {
      stopping.abort(new Error('the process is stopping'));
      await within(deadlineMs, running ?? Promise.resolve());
      over.abort();
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** When the day of a job began, as in src/service/queue/worker.ts. */
function startOf({ data, timestamp, opts: { delay = 0 } }: TakenJob): number {
  const { receivedAt = '' } = (data ?? {}) as { readonly receivedAt?: string };
  const received = Date.parse(receivedAt);
  return Math.min(Number.isNaN(received) ? timestamp : received, timestamp + delay);
}

function keptOf(ofJob: TakenJob['opts']['removeOnComplete'], ofWorker: Kept): Kept {
  if (ofJob === undefined) return ofWorker;
  if (typeof ofJob === 'boolean') return { count: ofJob ? 0 : -1 };
  return typeof ofJob === 'number' ? { count: ofJob } : ofJob;
}
