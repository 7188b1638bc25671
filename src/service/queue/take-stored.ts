/** Takes jobs right after they are stored, by BullMQ's manual processing (https://docs.bullmq.io/patterns/manually-fetching-jobs). */
import { setTimeout as delay } from 'node:timers/promises';
import { createRedisBackend, DelayedError, Worker, type Job, type WorkerOptions } from 'bullmq';
import type { QueueName } from './jobs.ts';
import type { QueueAccess } from './producer.ts';

/** Repeats a command as long as the job is certainly ours. A connection that fails fast may reject it. */
export type Insist = <R>(command: () => Promise<R>) => Promise<R>;

export interface StoredTaker {
  /**
   * Takes one job with the write that stores it; call it in the same turn of the event loop. Returns false and does nothing without room, before `start`, and
   * after `stop`.
   */
  take(): boolean;
  start(): void;
  /** Resolves when all taken jobs have ended. */
  stop(): Promise<void>;
}

interface TakerOptions<T> {
  /** The access that stores the jobs. Its `onError` receives failures before a job is taken, which the ordinary worker reports too. */
  readonly storedOn: QueueAccess;
  readonly queue: QueueName;
  readonly concurrency: number;
  /** The options that the ordinary worker of the queue has too. */
  readonly common: Omit<WorkerOptions, 'connection'> & { readonly lockDuration: number };
  readonly process: (job: Job<T>, token: string, insist: Insist) => Promise<void>;
  readonly onError: (error: Error) => void;
}

const retryMs = 100;

/** Creates a taker for one queue. Jobs that it does not take, or loses, are left to the ordinary workers, whose checks find jobs without a lock. */
export function createStoredTaker<T>({ storedOn, queue, concurrency, common, process, onError }: TakerOptions<T>): StoredTaker {
  // The worker has no blocking connection, because nothing here waits for a job.
  const worker = new Worker<T>(queue, null, { ...common, connection: storedOn.redis, skipWaitingForReady: true }, (name, options) =>
    createRedisBackend(name, options),
  );
  worker.on('error', storedOn.onError);
  const running = new Set<Promise<void>>();
  let isTaking = false;
  let taken = 0;

  const run = async (job: Job<T>, token: string, takenAt: number): Promise<void> => {
    let lockedUntil = takenAt + common.lockDuration;
    const renew = async () => {
      const at = performance.now();
      if ((await job.extendLock(token, common.lockDuration)) === 1) lockedUntil = at + common.lockDuration;
    };
    const insist: Insist = async (command) => {
      for (;;) {
        try {
          return await command();
        } catch (error) {
          if (performance.now() + retryMs > lockedUntil) throw error;
          await delay(retryMs);
        }
      }
    };
    // The lock is renewed as often as BullMQ's own workers do it.
    const renewal = setInterval(() => void renew().catch(onError), common.lockDuration / 4);
    const ended = await process(job, token, insist).then(
      () => undefined,
      (error: Error) => error,
    );
    clearInterval(renewal);
    if (ended === undefined) await insist(() => job.moveToCompleted(undefined, token, false));
    else if (!(ended instanceof DelayedError)) await insist(() => job.moveToFailed(ended, token, false));
  };
  const takeNext = async (): Promise<void> => {
    const [token, at] = [`${worker.id}:${taken++}`, performance.now()];
    const job = await worker.getNextJob(token, { block: false }).catch(storedOn.onError);
    if (job) await run(job, token, at);
  };

  return {
    take() {
      if (!isTaking || running.size >= concurrency) return false;
      // This immediate runs after the command that stores the job is queued, and before the write of this turn ends.
      const stored = new Promise<void>((resolve) => setImmediate(resolve));
      const one = stored
        .then(takeNext)
        .catch(onError)
        .finally(() => running.delete(one));
      running.add(one);
      return true;
    },
    start() {
      isTaking = true;
    },
    async stop() {
      isTaking = false;
      await Promise.all(running);
      await worker.close();
    },
  };
}
