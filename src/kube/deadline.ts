/**
 * A signal that is aborted together with `outer`, and after the timeout; `clear` when it is not needed any more. Own timers instead of AbortSignal.timeout
 * and AbortSignal.any: those stay behind for the whole timeout, at hundreds of requests per second.
 */
export function startDeadline(timeoutMs: number | undefined, outer: AbortSignal | undefined): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort(outer?.reason);
  if (outer?.aborted) abort();
  outer?.addEventListener('abort', abort, { once: true });
  const expire = () => controller.abort(new Error(`no complete answer within ${timeoutMs} ms`));
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}

/** The promise's result, or the signal's reason if that comes first: for what cannot be aborted itself. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
