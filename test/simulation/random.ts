/** Randomness that a seed repeats: the same seed gives the same numbers, in the same order. */

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A number in [from, to). */
  between(from: number, to: number): number;
  /** An integer in [from, to]. */
  integer(from: number, to: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Another source, which depends on the seed and on this name alone: what one part of the simulation draws does not change what another part draws. */
  fork(name: string): Random;
}

/** mulberry32: 32 bits of state, and fast. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    integer: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    pick<T>(list: readonly T[]): T {
      const [picked] = list.slice(Math.floor(next() * list.length));
      return picked as T;
    },
    fork: (name) => createRandom(hash(`${seed} ${name}`)),
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}
