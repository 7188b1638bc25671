/** Giving up: on a signal, after a time, or on either of them. */

/** A signal that aborts when the given one does, or after a timeout; `end` must be called, or it keeps both alive. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the timeout was the reason. */
  readonly isOver: boolean;
  end(): void;
}

/**
 * Starts a deadline; without a timeout only `signal` ends it. AbortSignal.timeout and AbortSignal.any would do the same, but the one stays behind for the whole
 * timeout, and a long-lived signal collects what the other derives from it.
 */
export function startDeadline(timeoutMs: number | undefined, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  let isOver = false;
  const onAbort = () => controller.abort(signal?.reason);
  const expire = () => {
    isOver = true;
    controller.abort(new Error(`no complete answer within ${timeoutMs} ms`));
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/** A signal that aborts when all of them have: for work that several wait for. `end` must be called. */
export function whenAllAborted(signals: readonly AbortSignal[]): Pick<Deadline, 'signal' | 'end'> {
  const controller = new AbortController();
  const onAbort = () => {
    if (signals.every(({ aborted }) => aborted)) controller.abort(signals[0]?.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true });
  if (signals.length > 0) onAbort();
  return {
    signal: controller.signal,
    end() {
      for (const signal of signals) signal.removeEventListener('abort', onAbort);
    },
  };
}

/** The promise's outcome, or the signal's reason if that comes first; the work itself goes on. */
export async function abortable<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * The promise's outcome, or undefined when there is none after the timeout; the work itself goes on. After a process was held up, its timers come before what
 * has arrived meanwhile: that is still in time.
 */
export async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => setImmediate(late.resolve, undefined), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
