/** Limits the concurrent requests to one pipeline. One that does not answer must not delay the others, and CI systems limit their callers. */
import { WaitError } from '../../core/model/errors.ts';

/** Limits the concurrent work for each key. */
export interface Pacer {
  /** Runs the work, or throws a WaitError if too much other work is running for the key. */
  run(key: string, work: () => Promise<void>): Promise<void>;
}

export interface PacerMeans {
  readonly now: () => number;
  readonly random: () => number;
  /** Resolves after this time, in ms. */
  readonly pause: (ms: number) => Promise<unknown>;
}

const maxAtOnce = 2;
/** The minimum duration of a request: two at a time make five in a second. */
const minMs = 400;
/** Requests over the limit are retried after a random time between these two. */
const [shortestMs, longestMs] = [1_000, 10_000];

/** Creates a pacer for this process. Each replica counts only its own requests. */
export function createPacer({ now, random, pause }: PacerMeans): Pacer {
  const counts = new Map<string, number>();
  return {
    async run(key, work) {
      const count = counts.get(key) ?? 0;
      if (count >= maxAtOnce) {
        const until = new Date(now() + shortestMs + Math.floor(random() * (longestMs - shortestMs)));
        throw new WaitError('RebuildPending', until, 'other rebuilds are being requested from the same pipeline');
      }
      counts.set(key, count + 1);
      const rest = pause(minMs);
      try {
        await work();
      } finally {
        await rest;
        const left = (counts.get(key) ?? 1) - 1;
        if (left === 0) counts.delete(key);
        else counts.set(key, left);
      }
    },
  };
}
