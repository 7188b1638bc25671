import type { RedisConnection } from './connection.ts';
import { runTogether } from './run-together.ts';

/** Two minutes: replicas whose clocks are behind may still count for the previous one. */
const lifeMs = 120_000;

/** Counts of requests that all replicas share, by receiver and minute, under the queue's prefix. Rejects when Redis does not answer. */
export function createRequestCounts(
  redis: RedisConnection,
  prefix: string,
): (receiver: string, window: number, count: number) => Promise<number> {
  return async (receiver, window, count) => {
    const key = `${prefix}:requests:${receiver}:${window}`;
    const commands = [
      ['INCRBY', key, count],
      ['PEXPIRE', key, lifeMs],
      ['GET', key],
    ] as const;
    return Number(await runTogether(redis, [key], commands));
  };
}
