/** Exponential backoff with jitter, so that those who failed together do not come back together. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** How much of a pause is random. `full`: all that is longer than the first pause; `equal`: half of it. */
  readonly jitter: 'full' | 'equal';
}

/** Of jobs in the queue, and of polls. */
export const jobBackoff: Backoff = { firstMs: 1_000, maxMs: 300_000, jitter: 'full' };

/** Of requests to the API server, and of watches. */
export const requestBackoff: Backoff = { firstMs: 100, maxMs: 30_000, jitter: 'equal' };

/** The pause before retry number `retry` (from 0): `firstMs`, doubled each time up to `maxMs`, less the jitter. */
export function backoffMs(retry: number, random: () => number, { firstMs, maxMs, jitter }: Backoff): number {
  const longest = Math.min(Math.max(maxMs, firstMs), firstMs * 2 ** Math.min(retry, 20));
  const shortest = jitter === 'full' ? firstMs : longest / 2;
  return Math.round(shortest + random() * (longest - shortest));
}
