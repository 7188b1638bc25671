import { setTimeout as delay } from 'node:timers/promises';

/** One bound for all waits, longer than anything takes on an overloaded machine: it only keeps a test whose state never comes from hanging. */
const boundMs = 300_000;

/** The first truthy value that `check` returns; after `timeoutMs` an Error that names `what` and the last thing that went wrong. */
export async function waitFor<T>(
  what: string,
  check: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  { timeoutMs = boundMs, intervalMs = 25, signal }: { timeoutMs?: number; intervalMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
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
    if (performance.now() >= deadline) break;
    await delay(intervalMs);
  }
  const why = lastError instanceof Error ? `: ${lastError.message}` : '';
  throw new Error(`gave up after ${timeoutMs} ms waiting for ${what}${why}`, { cause: lastError });
}

/** Thrown by a check when waiting longer is pointless, for example because the process it waits for has died. */
export class GiveUp extends Error {
  override name = 'GiveUp';
}
