const baseMs = 1_000;
const capMs = 300_000;

/** Exponential with full jitter, between 1 s and 5 min, so that those who failed together do not come back together. */
export function backoffMs(failures: number, random: () => number): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(failures, 20));
  return Math.round(baseMs + random() * (ceiling - baseMs));
}
