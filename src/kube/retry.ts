/** When a request to the API server is sent again. */
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, requestBackoff } from '../async/backoff.ts';
import { WaitError } from '../model/errors.ts';
import { isKubeError, KubeError } from './kube-error.ts';

/** Whether the same request may succeed a little later: the server is busy, restarting, or its conversion webhook is. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof KubeError)) return true;
  return error.status === 408 || error.status === 429 || error.status >= 500;
}

/** Waits before try number `attempt` (from 0) is repeated: as long as the server asked for, else longer and longer. */
export function pause(error: unknown, attempt: number, { random, signal }: { random: () => number; signal?: AbortSignal | undefined }) {
  const asked = error instanceof KubeError ? error.retryAfterMs : undefined;
  return delay(Math.max(asked ?? 0, backoffMs(attempt, random, requestBackoff)), undefined, { signal });
}

const maxTries = 4;
const maxConflicts = 5;
/** A worker is not kept busy longer than this by one busy server. */
const maxRetryAfterMs = 5_000;

/**
 * Tries again what fails because the API server is busy or restarting: only this request, and not before the server wants it. Who is to come back much later
 * gets a WaitError.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  { signal, random, now }: { signal: AbortSignal; random: () => number; now: () => number },
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const retryAfterMs = error instanceof KubeError ? error.retryAfterMs : undefined;
      if (signal.aborted || !isRepeatable(error)) throw error;
      if (retryAfterMs !== undefined && (retryAfterMs > maxRetryAfterMs || attempt + 1 >= maxTries)) {
        throw new WaitError('Retrying', new Date(now() + retryAfterMs), 'the API server wants to be left alone for a while', {
          cause: error,
        });
      }
      if (attempt + 1 >= maxTries) throw error;
      await pause(error, attempt, { random, signal });
    }
  }
}

/** Not what got no answer: it may have been done, and the queue's next try sees whether it was. */
function isRepeatable(error: unknown): boolean {
  return error instanceof KubeError && isTransient(error);
}

/**
 * Reads an object and writes it, guarded by its resourceVersion: `work` does both, and is repeated at once where somebody else wrote in between. Throws the 409 of
 * the last of five tries.
 */
export async function retryOnConflict<T>(work: () => Promise<T>, maxTries = maxConflicts): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isKubeError(error, 409) || tries >= maxTries) throw error;
    }
  }
}
