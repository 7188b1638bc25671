import { createReturnTimes } from './return-times.ts';
import { sleep as defaultSleep, type Sleep } from '../async/sleep.ts';

export interface LimiterOptions {
  /** How many may run at once. */
  concurrency: number;
  /** How many may start in a second, evenly spaced; none: as many as come. */
  requestsPerSecond?: number | undefined;
  line?: LineLimits | undefined;
  now?: () => number;
  sleep?: Sleep;
}

/** How many may wait for their turn, so that whoever waits has better things to do than to wait. */
export interface LineLimits {
  readonly maxWaiting: number;
  /** When no turn has ended for a while. */
  readonly maxWaitingWhenStuck: number;
  readonly stuckAfterMs: number;
  /** The longest that the pace may make somebody wait. */
  readonly maxPaceMs: number;
  /** The error for those who must come again. */
  readonly refuse: (why: string, waitMs: number) => Error;
}

/** First come, first served: `acquire` waits for its turn and answers the function that ends it; it rejects with the signal's reason, or what `refuse` makes. */
export interface Limiter {
  acquire(signal?: AbortSignal): Promise<() => void>;
  readonly isIdle: boolean;
}

interface Waiter {
  readonly start: () => void;
  readonly reject: (error: Error) => void;
}

const shortMs = 100;
const longMs = 1_000;

/** Limits how many requests one host gets at once, and how fast they follow each other. */
export function createLimiter({ concurrency, requestsPerSecond, line, now = Date.now, sleep = defaultSleep }: LimiterOptions): Limiter {
  // A Set keeps the order of arrival and forgets an aborted waiter at once.
  const waiting = new Set<Waiter>();
  const spacingMs = requestsPerSecond === undefined ? 0 : 1000 / requestsPerSecond;
  const returns = createReturnTimes(spacingMs, now);
  let running = 0;
  let nextStart = 0;
  let isStuck = false;
  let alarm: NodeJS.Timeout | undefined;

  const free = () => {
    isStuck = false;
    const next = waiting.values().next().value;
    returns.turn(next !== undefined);
    if (next) {
      waiting.delete(next);
      watch();
      next.start();
    } else if (--running === 0) clearTimeout(alarm);
    else watch();
  };

  /** From the last sign of life on. */
  const watch = () => {
    if (!line) return;
    clearTimeout(alarm);
    alarm = setTimeout(onStuck, line.stuckAfterMs).unref();
  };
  const onStuck = () => {
    isStuck = true;
    for (const waiter of [...waiting].slice(line?.maxWaitingWhenStuck)) {
      waiting.delete(waiter);
      waiter.reject(full());
    }
  };
  const full = () => {
    const why = `${running} requests run and ${waiting.size} wait`;
    return line?.refuse(why, returns.next(isStuck ? longMs : shortMs)) ?? new Error(why);
  };

  const turn = (signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const done = () => signal?.removeEventListener('abort', onAbort);
      const onAbort = () => {
        waiting.delete(waiter);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        start() {
          done();
          resolve();
        },
        reject(error) {
          done();
          reject(error);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      waiting.add(waiter);
    });

  const pace = async (signal?: AbortSignal) => {
    if (spacingMs === 0) return;
    const at = now();
    const start = Math.max(at, nextStart);
    if (line && start - at > line.maxPaceMs)
      throw line.refuse(`${requestsPerSecond} requests a second are allowed`, returns.next(start - at));
    nextStart = start + spacingMs;
    if (start > at) await sleep(start - at, signal);
  };

  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      if (running < concurrency) {
        if (++running === 1) watch();
      } else {
        if (line && waiting.size >= (isStuck ? line.maxWaitingWhenStuck : line.maxWaiting)) throw full();
        await turn(signal);
      }
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
