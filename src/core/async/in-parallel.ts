/** Work on many items that does not block the event loop. */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** Calls the work for each item, a bounded number at a time. An error of one item does not stop the others. Results are in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  const queue = items.entries();
  const drain = async () => {
    for (const [index, item] of queue) {
      const [result] = await Promise.allSettled([work(item)]);
      results[index] = result;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, drain));
  return results;
}

/** Throws the first failure of work of which every part has ended. */
export function throwFirst(results: readonly PromiseSettledResult<unknown>[]): void {
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** How long work goes on at once, and how long it pauses then; without a pause, it only lets pass what is due. */
interface Pace {
  readonly workMs: number;
  readonly pauseMs: number;
}
const brisk: Pace = { workMs: 5, pauseMs: 0 };
/** The pace of work that nobody waits for. It takes a sixth of the time of the event loop, so that it hardly delays a push. */
export const gently: Pace = { workMs: 2, pauseMs: 10 };

/** Visits all items and yields to the event loop every few milliseconds, so that long lists do not delay pushes, locks and probes. Stops with the signal. */
export async function inSlices<T>(
  items: Iterable<T>,
  signal: AbortSignal,
  visit: (item: T) => void,
  { workMs, pauseMs }: Pace = brisk,
): Promise<void> {
  let sliceEnd = performance.now() + workMs;
  for (const item of items) {
    visit(item);
    if (performance.now() < sliceEnd) continue;
    await (pauseMs === 0 ? nextTurn(undefined, { signal }) : delay(pauseMs, undefined, { signal }));
    sliceEnd = performance.now() + workMs;
  }
}

/** Visits all items, and lets others have their turn in between. */
export type Each = <T>(items: Iterable<T>, visit: (item: T) => void) => Promise<void>;

/** Slices of `inSlices` that stop with the signal. */
export function slicesUntil(signal: AbortSignal): Each {
  return (items, visit) => inSlices(items, signal, visit);
}

/** How many items are sorted at once before they are merged. */
const runLength = 256;

/** A sorted copy, as `toSorted` returns it, that is made in the slices of `each`. */
export async function sortInSlices<T>(items: readonly T[], compare: (a: T, b: T) => number, each: Each): Promise<T[]> {
  const starts = Array.from({ length: Math.ceil(items.length / runLength) }, (_, index) => index * runLength);
  let runs: T[][] = [];
  await each(starts, (start) => void runs.push(items.slice(start, start + runLength).toSorted(compare)));
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      const run: T[] = [];
      await each(merge(runs[index] ?? [], runs[index + 1] ?? [], compare), (item) => void run.push(item));
      merged.push(run);
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

/** The items of two sorted lists in their order; of equal ones, those of the first list come first. */
function* merge<T>(one: readonly T[], other: readonly T[], compare: (a: T, b: T) => number): Generator<T> {
  const rest = other.values();
  let next = rest.next();
  for (const item of one) {
    for (; !next.done && compare(item, next.value) > 0; next = rest.next()) yield next.value;
    yield item;
  }
  for (; !next.done; next = rest.next()) yield next.value;
}
