import { Redis } from 'ioredis';

/** A connection may come back at any moment: tried again quickly, for ever. */
const retryStrategy = (times: number): number => Math.min(50 * times, 1_000);

/**
 * For the way from a webhook to Redis: every command is answered or rejected within 350 ms, also when Redis is down (at once) or
 * hangs; nothing waits in an offline queue where a killed process would lose it.
 */
export function connectProducer(url: string): Redis {
  return connect(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 350, connectTimeout: 2_000 });
}

/** For workers: commands wait until Redis is back, because a worker has nothing better to do. */
export function connectWorker(url: string): Redis {
  return connect(url, { maxRetriesPerRequest: null, connectTimeout: 5_000 });
}

interface Patience {
  readonly enableOfflineQueue?: boolean;
  readonly maxRetriesPerRequest: number | null;
  readonly commandTimeout?: number;
  readonly connectTimeout: number;
}

function connect(url: string, options: Patience): Redis {
  return new Redis(url, { retryStrategy, keepAlive: 10_000, ...options });
}
