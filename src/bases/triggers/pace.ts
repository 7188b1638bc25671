/** How many requests go to one pipeline at the same time: one that does not answer must not hold up the others, and CI systems limit their callers. */
import { WaitError } from '../../core/model/errors.ts';

/** Limits the work for each key. */
export interface Pacer {
  /** Runs it, or throws a WaitError if others are being done for the key. */
  run(key: string, work: () => Promise<void>): Promise<void>;
}

export interface PacerMeans {
  readonly now: () => number;
  readonly random: () => number;
  /** Resolves after so many ms. */
  readonly pause: (ms: number) => Promise<unknown>;
}

const maxAtOnce = 2;
/** Two at a time, of this length at least, are five in a second. */
const minMs = 400;
/** Those that find no room come back later, at different times. */
const [shortestMs, longestMs] = [1_000, 10_000];

/** In this process: each replica counts its own. */
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
