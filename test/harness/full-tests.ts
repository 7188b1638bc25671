/** Whether each kind of input is tried in full: with FULL_TESTS=1. Otherwise a fixed share of it is tried. */
export const isFull = process.env['FULL_TESTS'] !== undefined;

/** All items in full tests; otherwise each `step`-th, beginning with the one at `offset`. */
export function* sampled<T>(items: Iterable<T>, step: number, offset = 0): Generator<T> {
  let index = offset;
  for (const item of items) if (isFull || index++ % step === 0) yield item;
}

/** The number of runs of a property: all in full tests, otherwise a fraction. */
export function runsOf(full: number, fraction = 4): number {
  return isFull ? full : Math.ceil(full / fraction);
}
