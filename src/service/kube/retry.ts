/** When a request to the API server is retried. */
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, requestBackoff } from '../../core/async/backoff.ts';
import { WaitError } from '../../core/model/errors.ts';
import { isKubeError, KubeError } from './kube-error.ts';
import { NotSentError } from './send-before.ts';

/** Whether the same request may succeed a little later: the API server or its conversion webhook is busy or restarting. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof KubeError)) return true;
  return error.status === 408 || error.status === 429 || error.status >= 500;
}

/** Waits before the retry after attempt number `attempt` (from 0): at least as long as the API server asked for, with exponential backoff. */
export function pause(error: unknown, attempt: number, { random, signal }: { random: () => number; signal?: AbortSignal | undefined }) {
  const retryAfterMs = error instanceof KubeError ? error.retryAfterMs : undefined;
  return delay(Math.max(retryAfterMs ?? 0, backoffMs(attempt, random, requestBackoff)), undefined, { signal });
}

const maxTries = 4;
const maxConflicts = 5;
/** A longer Retry-After does not occupy a worker: the job waits instead. */
const maxRetryAfterMs = 5_000;

/**
 * Retries a request that fails because the API server is busy or restarting, and not before the time that it asks for. If that is much later, throws a
 * WaitError. What the request rests on may change meanwhile: `work` has to ask for that in each try.
 */
export async function retryTransient<T>(
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
        throw new WaitError('Retrying', new Date(now() + retryAfterMs), 'the API server asked for a pause (Retry-After)', {
          cause: error,
        });
      }
      if (attempt + 1 >= maxTries) throw error;
      if (error instanceof NotSentError) continue;
      await pause(error, attempt, { random, signal });
    }
  }
}

/** A request without a response is not repeated: it may have succeeded, which the next try of the job will see. */
function isRepeatable(error: unknown): boolean {
  return error instanceof NotSentError || (error instanceof KubeError && isTransient(error));
}

/**
 * Reads an object and writes it, guarded by its resourceVersion: `work` does both, and is repeated at once after a conflict. Throws the 409 of the last of five
 * tries.
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
