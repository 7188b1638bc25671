/** Work on many items that holds up nothing else. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Runs the work for each item, a bounded number at a time; an error of one does not stop the others. Results are in the order of the items. */
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

const sliceMs = 5;

/** Visits all items and yields to the event loop every few milliseconds, so that long lists do not delay pushes, locks and probes. Stops with the signal. */
export async function inSlices<T>(items: Iterable<T>, signal: AbortSignal, visit: (item: T) => void): Promise<void> {
  let sliceEnd = performance.now() + sliceMs;
  for (const item of items) {
    visit(item);
    if (performance.now() < sliceEnd) continue;
    await nextTurn(undefined, { signal });
    sliceEnd = performance.now() + sliceMs;
  }
}
