import { setTimeout as sleepFor } from 'node:timers/promises';

/** The pauses before retries. Exponential backoff has jitter, so that clients that failed together do not retry together. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The random part of a pause. `full`: everything beyond the first pause; `equal`: half of it. */
  readonly jitter: 'full' | 'equal';
}

/** The backoff for jobs in the queue, and for polls. */
export const jobBackoff: Backoff = { firstMs: 1_000, maxMs: 300_000, jitter: 'full' };

/** The backoff for requests to the API server, and for watches. */
export const requestBackoff: Backoff = { firstMs: 100, maxMs: 30_000, jitter: 'equal' };

/** The pause before retry number `retry` (from 0): `firstMs`, doubled each time up to `maxMs`, less the jitter. */
export function backoffMs(retry: number, random: () => number, { firstMs, maxMs, jitter }: Backoff): number {
  const longest = Math.min(Math.max(maxMs, firstMs), firstMs * 2 ** Math.min(retry, 20));
  const shortest = jitter === 'full' ? firstMs : longest / 2;
  return Math.round(shortest + random() * (longest - shortest));
}

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Resolves after a pause, or rejects with the signal's reason. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await sleepFor(ms, undefined, { signal });
  } catch (error) {
    // Checked first, because the timer would reject with its own AbortError instead of the caller's reason.
    signal?.throwIfAborted();
    throw error;
  }
}

/** The longest pause that a Retry-After header can ask for. */
const maxRetryAfterMs = 24 * 3_600_000;

/** The pause that a Retry-After header asks for (RFC 9110 §10.2.3: seconds, or an HTTP date), in ms. Undefined without a valid header. */
export function parseRetryAfter(header: string | readonly string[] | undefined, now: number): number | undefined {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim() ?? '';
  const pauseMs = /^\d+$/.test(text) ? Number(text) * 1_000 : /[a-z]/i.test(text) ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(pauseMs) ? undefined : Math.min(Math.max(pauseMs, 0), maxRetryAfterMs);
}
