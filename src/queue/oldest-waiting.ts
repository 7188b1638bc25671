import type { RedisConnection } from './connection.ts';
import { queueNames, type QueueName } from './jobs.ts';

/** How long the job that is next in each queue has waited for a worker, in seconds; 0 where none waits. */
export type WaitingTimes = Readonly<Record<QueueName, number>>;

/** Reads the queues at regular intervals; `onTimes` must not throw. */
export interface WaitingWatch {
  stop(): void;
}

/** The queues to read, and the callbacks. */
export interface WaitingOptions {
  readonly redis: Pick<RedisConnection, 'lindex' | 'hmget'>;
  readonly prefix: string;
  readonly now: () => number;
  readonly onTimes: (times: WaitingTimes) => void;
  readonly onError: (error: unknown) => void;
  readonly everyMs?: number;
}

/** Reads now and every 15 s: two small reads for each queue that is not empty. */
export function watchWaiting({ onTimes, onError, everyMs = 15_000, ...options }: WaitingOptions): WaitingWatch {
  const read = createWaitingReader(options);
  const update = () => void read().then(onTimes, onError);
  update();
  const timer = setInterval(update, everyMs);
  return { stop: () => clearInterval(timer) };
}

/** Creates the function that reads once. It remembers when it first saw each job, for jobs that do not record when their wait began. */
export function createWaitingReader({ redis, prefix, now }: Pick<WaitingOptions, 'redis' | 'prefix' | 'now'>): () => Promise<WaitingTimes> {
  const seen = new Map<QueueName, { readonly id: string; readonly at: number }>();

  const waitingSince = async (queue: QueueName): Promise<number | undefined> => {
    const id = await redis.lindex(`${prefix}:${queue}:wait`, -1);
    const known = seen.get(queue);
    if (id === null) {
      seen.delete(queue);
      return undefined;
    }
    const firstSeen = known?.id === id ? known.at : now();
    seen.set(queue, { id, at: firstSeen });
    const [timestamp, started, options] = await redis.hmget(`${prefix}:${queue}:${id}`, 'timestamp', 'ats', 'opts');
    // A retried or delayed job has waited for a worker since its pause ended, a time that is not recorded.
    const isFresh = started === null && timestamp !== null && delayOf(options) === 0;
    return isFresh ? Number(timestamp) : firstSeen;
  };

  return async () => {
    const times = await Promise.all(
      queueNames.map(async (queue) => {
        const since = await waitingSince(queue);
        return [queue, since === undefined ? 0 : Math.max(0, (now() - since) / 1_000)] as const;
      }),
    );
    return Object.fromEntries(times) as Record<QueueName, number>;
  };
}

function delayOf(options: string | null | undefined): number {
  const { delay } = JSON.parse(options ?? '{}') as { delay?: number };
  return delay ?? 0;
}
