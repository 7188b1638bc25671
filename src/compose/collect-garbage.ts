/** After the start, half of the heap is garbage. V8 would keep it until it needs memory, which in an idle process is never. */
const afterMs = 5_000;

interface CollectOptions {
  readonly type: 'major';
  readonly execution: 'async';
  readonly flavor: 'last-resort';
}

/** From this size on, the pause is longer than pushes should wait for. */
const largeHeapBytes = 200_000_000;

/** What the caches of a worker need is there, or (without the role) never comes. */
export type Moment = 'caches complete' | 'started';

/**
 * Collects garbage and returns the memory to the system: 5 s after the start, with a pause of at most about 100 ms. A large heap (of more than some 20,000
 * policies) pauses for up to a second: it is collected when the caches are complete, and this resolves afterwards, so that no job is taken before. Does nothing
 * unless Node was started with `--expose-gc`, as in the container image.
 */
export async function collectGarbage(moment: Moment): Promise<void> {
  const collect = (globalThis as { gc?: (options: CollectOptions) => Promise<void> }).gc;
  const options: CollectOptions = { type: 'major', execution: 'async', flavor: 'last-resort' };
  if (collect === undefined) return;
  if (moment === 'caches complete' && isLarge()) await collect(options);
  else {
    const collectSmall = () => (isLarge() ? undefined : void collect(options));
    setTimeout(collectSmall, afterMs).unref();
  }
}

function isLarge(): boolean {
  return process.memoryUsage().heapUsed >= largeHeapBytes;
}
