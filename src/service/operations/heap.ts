/**
 * Keeps the heap small at rest, with room for a burst. V8 sizes it by the memory of the machine, or by a share of the used memory. The first wastes memory; the
 * second collects all of a small heap over and over in a burst.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

interface CollectOptions {
  readonly type: 'major';
  readonly execution: 'async';
  readonly flavor: 'last-resort';
}

/** The size from which on a full collection pauses the process for longer than pushes should wait, in bytes. */
const largeBytes = 200_000_000;
/** The number of bytes by which a small heap may grow before V8 collects it: the garbage of a hundred updates. */
const roomBytes = 50_000_000;
/** The memory of a burst or of garbage that a process at rest may keep, in bytes. */
const restBytes = 25_000_000;
/** The minimum growth of the heap, in percent of the used memory. */
const leastGrowth = 30;
/** The option of the start, as in `cli/lean-start.ts` and the Dockerfile. */
const startGrowth = `--heap-growing-percent=${leastGrowth}`;
const everyMs = 5_000;
/** How long a process that has worked rests before its garbage is collected, which costs as much as a hundred updates. */
const restMs = 60_000;
/** The share of the time for which the event loop of a process at rest may be busy. */
const restingShare = 0.03;

/** Returns a function that collects garbage and returns memory to the system; undefined unless Node has `--expose-gc`, as in the container image. */
function collector(): (() => Promise<void>) | undefined {
  const collect = (globalThis as { gc?: (options: CollectOptions) => Promise<void> }).gc;
  return collect && (() => collect({ type: 'major', execution: 'async', flavor: 'last-resort' }));
}

const used = (): number => process.memoryUsage().heapUsed;

/** Collects a large heap (of more than some 20,000 policies), which pauses the process for up to a second. Resolves before the first job is taken. */
export async function collectLargeHeap(): Promise<void> {
  if (used() >= largeBytes) await collector()?.();
}

/** Collects garbage after the start, and when the process rests and has grown. Sets the heap's growth, unless the process was started with its own value. */
export function tendHeap(setGrowth = setGrowingPercent): { stop(): void } {
  const collect = collector();
  if (collect === undefined) return { stop: () => undefined };
  const collections = new PerformanceObserver((list) => {
    if (list.getEntries().some(isMajor)) setGrowth(growthOf(used()));
  });
  if (process.execArgv.includes(startGrowth)) collections.observe({ entryTypes: ['gc'] });
  let resting = 0;
  let since = performance.eventLoopUtilization();
  let restedMs = 0;
  const tend = async () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, since);
    since = now;
    restedMs = utilization <= restingShare ? restedMs + everyMs : 0;
    const hasGrown = process.memoryUsage.rss() > resting + restBytes;
    const isDue = restedMs >= (resting === 0 ? everyMs : restMs);
    if (!isDue || !hasGrown || used() >= largeBytes) return;
    await collect();
    resting = process.memoryUsage.rss();
  };
  const timer = setInterval(() => void tend(), everyMs).unref();
  return {
    stop() {
      clearInterval(timer);
      collections.disconnect();
    },
  };
}

/** Sets how much the heap may grow. V8 applies the value at its next collection, to the memory that remains then. */
function setGrowingPercent(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

function isMajor(collection: object): boolean {
  const detail = 'detail' in collection ? collection.detail : undefined;
  return typeof detail === 'object' && detail !== null && 'kind' in detail && detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

/** The percentage by which a heap of this size may grow. */
export function growthOf(bytes: number): number {
  return Math.max(leastGrowth, Math.round((roomBytes / bytes) * 100));
}
