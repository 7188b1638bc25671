/** After the start, half of the heap is garbage. V8 would keep it until it needs memory, which in an idle process is never. */
const afterMs = 5_000;

interface CollectOptions {
  readonly type: 'major';
  readonly execution: 'async';
  readonly flavor: 'last-resort';
}

/**
 * Collects garbage once, 5 s after the start, and returns the memory to the system; pauses for at most about 100 ms. Does nothing unless Node was started with
 * `--expose-gc`, as in the container image.
 */
export function collectGarbage(): void {
  const collect = (globalThis as { gc?: (options: CollectOptions) => Promise<void> }).gc;
  if (collect !== undefined) setTimeout(() => void collect({ type: 'major', execution: 'async', flavor: 'last-resort' }), afterMs).unref();
}
