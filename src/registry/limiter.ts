import { setTimeout as sleepFor } from 'node:timers/promises';

export interface LimiterOptions {
  /** How many may run at once. */
  concurrency: number;
  /** How many may start in a second, evenly spaced; none: as many as come. */
  requestsPerSecond?: number | undefined;
  now?: () => number;
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** First come, first served: `acquire` waits for its turn and answers the function that ends it; it rejects with the signal's reason. */
export interface Limiter {
  acquire(signal?: AbortSignal): Promise<() => void>;
  readonly isIdle: boolean;
}

/** Limits how many requests one host gets at once, and how fast they follow each other. */
export function createLimiter({ concurrency, requestsPerSecond, now = Date.now, sleep = defaultSleep }: LimiterOptions): Limiter {
  // A Set keeps the order of arrival and forgets an aborted waiter at once.
  const waiting = new Set<() => void>();
  const spacingMs = requestsPerSecond === undefined ? 0 : 1000 / requestsPerSecond;
  let running = 0;
  let nextStart = 0;

  const free = () => {
    const next = waiting.values().next().value;
    if (next) {
      waiting.delete(next);
      next();
    } else {
      running--;
    }
  };

  const turn = (signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        waiting.delete(start);
        reject(signal?.reason as Error);
      };
      const start = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      waiting.add(start);
    });

  const pace = async (signal?: AbortSignal) => {
    if (spacingMs === 0) return;
    const start = Math.max(now(), nextStart);
    nextStart = start + spacingMs;
    if (start > now()) await sleep(start - now(), signal);
  };

  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      if (running < concurrency) running++;
      else await turn(signal);
      try {
        await pace(signal);
      } catch (error) {
        free();
        throw error;
      }
      return free;
    },
    get isIdle() {
      return running === 0;
    },
  };
}

async function defaultSleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await sleepFor(ms, undefined, { signal });
  } catch (error) {
    // The timer rejects with an AbortError of its own; the reason is what the caller gave.
    signal?.throwIfAborted();
    throw error;
  }
}
