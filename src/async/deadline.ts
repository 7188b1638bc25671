/** A signal that aborts when the given one does, or after `timeoutMs`; `end` must be called, or it keeps both alive. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly isOver: boolean;
  end(): void;
}

/** Starts a deadline. AbortSignal.any would do the same, but long-lived signals collect what is derived from them. */
export function startDeadline(timeoutMs: number, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  let isOver = false;
  const onAbort = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort(new Error(`no answer within ${timeoutMs} ms`));
  }, timeoutMs);
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
