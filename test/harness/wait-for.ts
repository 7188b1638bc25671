import { setTimeout as delay } from 'node:timers/promises';

/** One bound for all waits, longer than anything takes on an overloaded machine: it only keeps a test whose state never comes from hanging. */
const boundMs = 300_000;
/** Who asks a server all the time takes the processor from what is waited for: the longer it takes, the more seldom it is asked, and is seen at most a tenth later. */
const pauseAfter = (waitedMs: number) => Math.min(250, Math.max(25, waitedMs / 10));

/** How often a wait that takes long is reported. */
const reportEveryMs = 10_000;

let report: ((what: string, waitedMs: number) => void) | undefined;

/** From now on, each wait of this process that takes ten seconds is reported, and again every ten seconds: somebody looks on. */
export function reportLongWaits(onLongWait: (what: string, waitedMs: number) => void): void {
  report = onLongWait;
}

/** The first truthy value that `check` returns; after `timeoutMs` an Error that names `what` and the last thing that went wrong. `intervalMs`: for a state that passes. */
export async function waitFor<T>(
  what: string,
  check: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  { timeoutMs = boundMs, intervalMs, signal }: { timeoutMs?: number; intervalMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const started = performance.now();
  let reportAtMs = reportEveryMs;
  let lastError: unknown;
  for (;;) {
    signal?.throwIfAborted();
    try {
      const value = await check();
      if (value) return value;
      lastError = undefined;
    } catch (error) {
      if (error instanceof GiveUp) throw error;
      lastError = error;
    }
    const waitedMs = performance.now() - started;
    if (waitedMs >= timeoutMs) break;
    if (waitedMs >= reportAtMs) {
      report?.(what, waitedMs);
      reportAtMs += reportEveryMs;
    }
    await delay(intervalMs ?? pauseAfter(waitedMs));
  }
  const why = lastError instanceof Error ? `: ${lastError.message}` : '';
  throw new Error(`gave up after ${timeoutMs} ms waiting for ${what}${why}`, { cause: lastError });
}

/** Thrown by a check when waiting longer is pointless, for example because the process it waits for has died. */
export class GiveUp extends Error {
  override name = 'GiveUp';
}
