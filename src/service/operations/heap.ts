/**
 * The heap: small at rest, with room for a burst. V8 sizes it by the memory of the machine, or by a share of what is in use: the first wastes memory, the second
 * collects all of a small heap over and over in a burst.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

interface CollectOptions {
  readonly type: 'major';
  readonly execution: 'async';
  readonly flavor: 'last-resort';
}

/** From this size on, collecting all of it pauses the process for longer than pushes should wait. */
const largeBytes = 200_000_000;
/** The garbage of a hundred updates, which a small heap may grow by before V8 collects it. */
const roomBytes = 50_000_000;
/** The memory of a burst or of garbage that a process at rest may keep. */
const restBytes = 25_000_000;
/** In percent of what is in use. */
const leastGrowth = 30;
/** The option of the start, as in `cli/lean-start.ts` and the Dockerfile. */
const startGrowth = `--heap-growing-percent=${leastGrowth}`;
const everyMs = 5_000;
/** Collecting costs as much as a hundred updates, so a process that has worked rests for a minute before. */
const restMs = 60_000;
/** The share of the time that the event loop works in a process at rest. */
const restingShare = 0.03;

/** Collects all garbage and returns the memory to the system; undefined unless Node was started with `--expose-gc`, as in the container image. */
function collector(): (() => Promise<void>) | undefined {
  const collect = (globalThis as { gc?: (options: CollectOptions) => Promise<void> }).gc;
  return collect && (() => collect({ type: 'major', execution: 'async', flavor: 'last-resort' }));
}

const used = (): number => process.memoryUsage().heapUsed;

/** Collects a large heap (of more than some 20,000 policies), which pauses for up to a second: resolves before the first job is taken. */
export async function collectLargeHeap(): Promise<void> {
  if (used() >= largeBytes) await collector()?.();
}

/** Collects garbage after the start, and when the process rests and has grown; sets what the heap may grow by, unless the process was started with a value of its own. */
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

/** V8 applies it at its next collection, to what is left then. */
function setGrowingPercent(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

function isMajor(collection: object): boolean {
  const detail = 'detail' in collection ? collection.detail : undefined;
  return typeof detail === 'object' && detail !== null && 'kind' in detail && detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

/** By how many percent a heap of this size may grow. */
export function growthOf(bytes: number): number {
  return Math.max(leastGrowth, Math.round((roomBytes / bytes) * 100));
}
