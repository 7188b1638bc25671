/** After the start, half of the heap is garbage. V8 would keep it until it needs memory, which in an idle process is never. */
const afterMs = 5_000;

interface CollectOptions {
  readonly type: 'major';
  readonly execution: 'async';
  readonly flavor: 'last-resort';
}

/** From this size on, the pause is longer than pushes should wait for. */
const largeHeapBytes = 200_000_000;

/**
 * Collects garbage once and returns the memory to the system: 5 s after the start, with a pause of at most about 100 ms. A large heap (of more than some 20,000
 * policies) pauses for up to a second: it is collected at once, and this resolves afterwards, so that no job is taken before. Does nothing unless Node was started
 * with `--expose-gc`, as in the container image.
 */
export async function collectGarbage(): Promise<void> {
  const collect = (globalThis as { gc?: (options: CollectOptions) => Promise<void> }).gc;
  const options: CollectOptions = { type: 'major', execution: 'async', flavor: 'last-resort' };
  if (collect === undefined) return;
  if (process.memoryUsage().heapUsed >= largeHeapBytes) await collect(options);
  else setTimeout(() => void collect(options), afterMs).unref();
}
