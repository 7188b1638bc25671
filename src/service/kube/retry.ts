/** Decides when a request to the API server is retried. */
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, requestBackoff } from '../../core/async/backoff.ts';
import { WaitError } from '../../core/model/errors.ts';
import { isKubeError, KubeError } from './kube-error.ts';
import { NotSentError } from './send-before.ts';

/** Whether the same request may succeed a little later, because the API server or its conversion webhook is busy or restarting. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof KubeError)) return true;
  return error.status === 408 || error.status === 429 || error.status >= 500;
}

/** Waits before the retry after attempt number `attempt` (from 0), with exponential backoff, and at least as long as the API server asked for. */
export function pause(error: unknown, attempt: number, { random, signal }: { random: () => number; signal?: AbortSignal | undefined }) {
  const retryAfterMs = error instanceof KubeError ? error.retryAfterMs : undefined;
  return delay(Math.max(retryAfterMs ?? 0, backoffMs(attempt, random, requestBackoff)), undefined, { signal });
}

const maxTries = 4;
const maxConflicts = 5;
/** The longest Retry-After that a worker waits for. For a longer one, the job waits in the queue. */
const maxRetryAfterMs = 5_000;

/**
 * Retries a request that fails because the API server is busy or restarting, and not before the time that it asks for. If that is much later, throws a
 * WaitError. The preconditions of the request may change in that time, so `work` has to check them in each try.
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

/** Whether a request may be repeated. One without a response may have succeeded, which the next try of the job finds. */
function isRepeatable(error: unknown): boolean {
  return error instanceof NotSentError || (error instanceof KubeError && isTransient(error));
}

/**
 * Writes an object, guarded by its resourceVersion, and repeats that without a pause after a conflict. `work` gets the conflict of the previous try, after which
 * it has to read the object; the first try may use known state. Throws the 409 of the last try.
 */
export async function retryOnConflict<T>(work: (conflict: KubeError | undefined) => Promise<T>, maxTries = maxConflicts): Promise<T> {
  let conflict: KubeError | undefined;
  for (let tries = 1; ; tries++) {
    try {
      return await work(conflict);
    } catch (error) {
      if (!isKubeError(error, 409) || tries >= maxTries) throw error;
      conflict = error;
    }
  }
}
