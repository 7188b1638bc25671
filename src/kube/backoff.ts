const firstMs = 100;
const maxMs = 30_000;

/** The pause before try number `attempt` (from 0) is repeated: 100 ms doubled up to 30 s, of which `random` takes away up to half. */
export function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 20));
  return full * (0.5 + random() / 2);
}
