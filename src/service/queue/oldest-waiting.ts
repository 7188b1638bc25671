import type { Job, Queue } from 'bullmq';
import { queueNames, type QueueName } from './jobs.ts';
import { openQueue, type QueueAccess } from './producer.ts';

/** How long the job that is next in each queue has waited for a worker, in seconds; 0 where none waits. */
export type WaitingTimes = Readonly<Record<QueueName, number>>;

/** Reads the queues at regular intervals; `onTimes` must not throw. */
export interface WaitingWatch {
  stop(): void;
}

/** The queues to read, and the callbacks. */
export interface WaitingOptions {
  readonly access: QueueAccess;
  readonly now: () => number;
  readonly onTimes: (times: WaitingTimes) => void;
  /** Receives the error of a failed read. The next read follows at its usual time. */
  readonly onUnread: (error: unknown) => void;
  readonly everyMs?: number;
}

/** Reads the queues now and every 15 s, with two small reads for each queue that is not empty. */
export function watchWaiting({ access, now, onTimes, onUnread, everyMs = 15_000 }: WaitingOptions): WaitingWatch {
  const read = createWaitingReader(access, now);
  const update = () => void read().then(onTimes, onUnread);
  update();
  const timer = setInterval(update, everyMs);
  return { stop: () => clearInterval(timer) };
}

/** Creates the function that reads once. It remembers when it first saw each job, for jobs that do not record when their wait began. */
export function createWaitingReader(access: QueueAccess, now: () => number): () => Promise<WaitingTimes> {
  const queues = queueNames.map((name) => [name, createQueueReader(openQueue(name, access), now)] as const);
  return async () => {
    const times = await Promise.all(
      queues.map(async ([name, readSince]) => {
        const since = await readSince();
        return [name, since === undefined ? 0 : Math.max(0, (now() - since) / 1_000)] as const;
      }),
    );
    return Object.fromEntries(times) as Record<QueueName, number>;
  };
}

/** Creates the reader of one queue. It resolves to when the wait of the next job began; undefined if no job waits. */
function createQueueReader(queue: Pick<Queue, 'getWaiting'>, now: () => number): () => Promise<number | undefined> {
  let seen: { readonly id: string | undefined; readonly at: number } | undefined;
  return async () => {
    const [next]: (Job | undefined)[] = await queue.getWaiting(0, 0);
    if (next === undefined) {
      seen = undefined;
      return undefined;
    }
    const at = seen !== undefined && seen.id === next.id ? seen.at : now();
    seen = { id: next.id, at };
    // A retried or delayed job has waited for a worker since its pause ended, but that time is not recorded.
    const isFresh = next.attemptsStarted === 0 && (next.opts.delay ?? 0) === 0;
    return isFresh ? next.timestamp : at;
  };
}
