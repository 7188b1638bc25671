/** Limits the requests to one host. */
import { type Sleep, sleep as defaultSleep } from '../../core/async/backoff.ts';

export interface LimiterOptions {
  /** The number of requests that run at the same time. */
  concurrency: number;
  /** The number of requests that start in a second, evenly spaced; unlimited unless given. */
  requestsPerSecond?: number | undefined;
  queue?: QueueLimits | undefined;
  now?: () => number;
  sleep?: Sleep;
}

/** How many requests may wait for a slot. Further ones are refused, so that their workers are free for other jobs. */
export interface QueueLimits {
  readonly maxWaiting: number;
  /** The limit that applies if no request has ended for a while. */
  readonly maxWaitingWhenStuck: number;
  readonly stuckAfterMs: number;
  /** The longest wait that `requestsPerSecond` may cause. */
  readonly maxPaceMs: number;
  /** The error of a refused request, which should be repeated after `waitMs`. */
  readonly refuse: (why: string, waitMs: number) => Error;
}

/** A first-come, first-served limiter. `acquire` waits for a slot and returns the function that releases it. It rejects with the signal's reason, or with the error of `refuse`. */
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

/** Creates a limiter of how many requests run at the same time, and how fast they follow each other. */
export function createLimiter({ concurrency, requestsPerSecond, queue, now = Date.now, sleep = defaultSleep }: LimiterOptions): Limiter {
  // The waiting requests. A Set keeps the order of arrival, and an aborted waiter can be removed without a search.
  const waiting = new Set<Waiter>();
  const spacingMs = requestsPerSecond === undefined ? 0 : 1000 / requestsPerSecond;
  const retries = createRetrySchedule(spacingMs, now);
  let running = 0;
  let nextStart = 0;
  let isStuck = false;
  let stuckTimer: NodeJS.Timeout | undefined;

  const free = () => {
    isStuck = false;
    const next = waiting.values().next().value;
    retries.onRelease(next !== undefined);
    if (next) {
      waiting.delete(next);
      restartTimer();
      next.start();
    } else if (--running === 0) clearTimeout(stuckTimer);
    else restartTimer();
  };

  const restartTimer = () => {
    if (!queue) return;
    clearTimeout(stuckTimer);
    stuckTimer = setTimeout(onStuck, queue.stuckAfterMs).unref();
  };
  const onStuck = () => {
    isStuck = true;
    for (const waiter of [...waiting].slice(queue?.maxWaitingWhenStuck)) {
      waiting.delete(waiter);
      waiter.reject(full());
    }
  };
  const full = () => {
    const why = `${running} requests run and ${waiting.size} wait`;
    return queue?.refuse(why, retries.next(isStuck ? longMs : shortMs)) ?? new Error(why);
  };

  const waitForSlot = (signal?: AbortSignal) =>
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
    if (queue && start - at > queue.maxPaceMs)
      throw queue.refuse(`${requestsPerSecond} requests a second are allowed`, retries.next(start - at));
    nextStart = start + spacingMs;
    if (start > at) await sleep(start - at, signal);
  };

  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      if (running < concurrency) {
        if (++running === 1) restartTimer();
      } else {
        if (queue && waiting.size >= (isStuck ? queue.maxWaitingWhenStuck : queue.maxWaiting)) throw full();
        await waitForSlot(signal);
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

/** Decides when refused requests should be repeated. */
interface RetrySchedule {
  /** Records that a slot was released; `isTaken`: the next waiting request has it now. */
  onRelease(isTaken: boolean): void;
  /** The pause of a further refused request, in ms from now; at least `soonestMs`. */
  next(soonestMs: number): number;
}

/** The longest pause. The host may become faster, and requests that wait longer need a reported reason. */
const longestMs = 4_000;
/** The weight of the latest time between two releases in the moving average. */
const weight = 0.1;

/**
 * Creates a schedule. Refused requests are repeated one after the other, as fast as slots become free, and at least `spacingMs` apart. Together, they would
 * only be refused again, each at the cost of a write to Redis. The pause is at most 4 s, or `soonestMs`.
 */
function createRetrySchedule(spacingMs: number, now: () => number): RetrySchedule {
  /** The average time between two releases while requests wait; 0 if unknown. */
  let slotMs = 0;
  let lastRelease: number | undefined;
  let lastRetry = 0;
  return {
    onRelease(isTaken) {
      const at = now();
      if (isTaken && lastRelease !== undefined) slotMs += (slotMs === 0 ? 1 : weight) * (at - lastRelease - slotMs);
      lastRelease = isTaken ? at : undefined;
    },
    next(soonestMs) {
      const at = now();
      const inOrder = Math.max(lastRetry + Math.max(slotMs, spacingMs), at + soonestMs);
      lastRetry = Math.min(inOrder, at + Math.max(longestMs, soonestMs));
      return lastRetry - at;
    },
  };
}
