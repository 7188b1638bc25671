import type { RedisConnection } from './connection.ts';

/** Two windows: replicas whose clocks differ may still be in the last one. */
const lifeMs = 120_000;

/** Counts of requests that all replicas share, by receiver and minute, under the queue's prefix. Rejects when Redis does not answer. */
export function createRequestCounts(
  redis: RedisConnection,
  prefix: string,
): (receiver: string, window: number, count: number) => Promise<number> {
  return async (receiver, window, count) => {
    const key = `${prefix}:requests:${receiver}:${window}`;
    const results = await redis.multi().incrby(key, count).pexpire(key, lifeMs).exec();
    const [error, sum] = results?.[0] ?? [];
    if (error) throw error;
    return Number(sum);
  };
}
