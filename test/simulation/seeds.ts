/** Runs many seeds, on all cores. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { SeedRequest, SeedResult } from './seed-worker.ts';

export interface SeedsOptions {
  readonly first: number;
  readonly count: number;
  readonly withPeople: boolean;
  /** Called after each seed; seeds end in any order. */
  readonly onResult: (result: SeedResult) => void;
  /** Whether to begin no further seed. */
  readonly isEnough?: () => boolean;
  /** The module that runs a seed: that of this tree unless given. */
  readonly worker?: URL;
}

/** Module state of worlds that are over stays in the memory of a thread. */
const seedsPerThread = 200;

/** Resolves when all have been run. */
export async function runSeeds({
  first,
  count,
  withPeople,
  onResult,
  isEnough = () => false,
  worker = new URL('./seed-worker.ts', import.meta.url),
}: SeedsOptions): Promise<void> {
  let next = first;
  const isOver = () => next >= first + count || isEnough();
  const runThread = () =>
    new Promise<void>((resolve, reject) => {
      const thread = new Worker(worker);
      let left = seedsPerThread;
      const ask = () => {
        if (isOver() || left-- === 0) {
          void thread.terminate();
          return resolve();
        }
        const request: SeedRequest = { seed: next++, withPeople };
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        thread.postMessage(request);
      };
      thread.on('message', (result: SeedResult) => {
        onResult(result);
        ask();
      });
      thread.on('error', reject);
      ask();
    });
  const runThreads = async () => {
    while (!isOver()) await runThread();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), count) }, runThreads));
}
