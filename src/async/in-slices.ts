import { setImmediate as nextTurn } from 'node:timers/promises';

const sliceMs = 5;

/** Visits all items, and lets the event loop go on after every few milliseconds: what is long must not hold up pushes, locks and probes. Stops with the signal. */
export async function inSlices<T>(items: Iterable<T>, signal: AbortSignal, visit: (item: T) => void): Promise<void> {
  let sliceEnd = performance.now() + sliceMs;
  for (const item of items) {
    visit(item);
    if (performance.now() < sliceEnd) continue;
    await nextTurn(undefined, { signal });
    sliceEnd = performance.now() + sliceMs;
  }
}
