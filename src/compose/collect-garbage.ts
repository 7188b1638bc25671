/** After a start half of the heap is what was read and is needed no more; V8 keeps it until it needs the room, which in a quiet process is never. */
const afterMs = 5_000;

interface CollectOptions {
  readonly type: 'major';
  readonly execution: 'async';
  readonly flavor: 'last-resort';
}

/** Soon collects garbage once and gives its memory back, where node was started with `--expose-gc`, as in the image. Costs one pause of some 100 ms at most. */
export function collectGarbage(): void {
  const collect = (globalThis as { gc?: (options: CollectOptions) => Promise<void> }).gc;
  if (collect !== undefined) setTimeout(() => void collect({ type: 'major', execution: 'async', flavor: 'last-resort' }), afterMs).unref();
}
