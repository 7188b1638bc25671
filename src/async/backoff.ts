const baseMs = 1_000;
const defaultCapMs = 300_000;

/** Exponential with full jitter, between 1 s and `capMs`, so that those who failed together do not come back together. */
export function backoffMs(failures: number, random: () => number, capMs = defaultCapMs): number {
  const ceiling = Math.min(Math.max(capMs, baseMs), baseMs * 2 ** Math.min(failures, 20));
  return Math.round(baseMs + random() * (ceiling - baseMs));
}
