/** Aborts waiting: on a signal, after a time, or on either of them. */

/** A signal that aborts when the given one does, or after a timeout. `end` must be called, or it keeps both alive. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the signal was aborted by the timeout. */
  readonly isOver: boolean;
  end(): void;
}

/**
 * Starts a deadline; without a timeout only `signal` aborts it. It replaces AbortSignal.timeout, which stays in memory for the whole timeout, and
 * AbortSignal.any, whose derived signals accumulate on a long-lived signal.
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

/** A signal that aborts when all of the signals have, for work with several waiting callers. `end` must be called. */
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

/** The promise's outcome, or the signal's reason if that comes first. The work itself continues. */
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
 * The promise's outcome, or undefined after the timeout. The work itself continues. After a pause of the process, its timers fire before results that have
 * arrived during the pause. Such results are still in time.
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
