import { WaitError } from '../core/errors.ts';
import { KubeError } from './kube-error.ts';
import { isTransient, pause } from './transient.ts';

const maxTries = 4;
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
