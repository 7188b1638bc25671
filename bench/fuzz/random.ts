/** A stream of choices that the same seed repeats. */
export interface Random {
  /** A whole number from 0 up to, and without, `below`. */
  below(below: number): number;
  chance(probability: number): boolean;
  /** One of the list. */
  pick<T>(list: readonly [T, ...T[]]): T;
  pick<T>(list: readonly T[]): T | undefined;
}

/** mulberry32: 32 bits of state, good enough to pick test cases. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, chance: (probability) => next() < probability, pick: <T>(list: readonly T[]) => list[below(list.length)] as T };
}
