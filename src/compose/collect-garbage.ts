/** After a start, half of the heap is garbage; V8 keeps it until it needs the memory, which in an idle process is never. */
const afterMs = 5_000;

interface CollectOptions {
  readonly type: 'major';
  readonly execution: 'async';
  readonly flavor: 'last-resort';
}

/** Collects garbage once, after a few seconds, and returns its memory, if Node was started with `--expose-gc`, as in the container image. Costs one pause of about 100 ms at most. */
export function collectGarbage(): void {
  const collect = (globalThis as { gc?: (options: CollectOptions) => Promise<void> }).gc;
  if (collect !== undefined) setTimeout(() => void collect({ type: 'major', execution: 'async', flavor: 'last-resort' }), afterMs).unref();
}
