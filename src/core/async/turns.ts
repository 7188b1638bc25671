/** Turns of the event loop for work that gives way, such as pages: it is done in slices, one at a time for the whole process, and work that goes first is not kept waiting. */
import { setImmediate as nextLoop, setTimeout as delay } from 'node:timers/promises';

import type { Each } from './in-parallel.ts';

/** What one process does that gives way, and what goes first. */
export interface Turns {
  /** Resolves when the next slice may begin. Everybody waits in one line, so that ten pages take no longer at once than one. */
  next(): Promise<void>;
  /** Visits all items in slices. A list of few items is visited at once. */
  readonly each: Each;
  /** Does work that goes first: while it is under way, slices are rare. */
  first<T>(work: () => Promise<T>): Promise<T>;
}

/** How the time passes, and how others get their turn. */
export interface TurnClock {
  /** A monotonic clock in ms. */
  readonly elapsed: () => number;
  /** Resolves after everything that is due. */
  readonly passOn: () => Promise<unknown>;
  /** Resolves after a time in ms. */
  readonly pause: (ms: number) => Promise<unknown>;
}

/** How long a slice takes in ms, and how long it waits at most for work that goes first: such work may wait itself, for a registry that does not answer. */
const sliceMs = 1;
const mostPauseMs = 10;
/** How many items are visited between two readings of the clock. */
const unlooked = 8;

const realClock: TurnClock = {
  elapsed: () => performance.now(),
  passOn: () => nextLoop(),
  pause: (ms) => delay(ms, undefined, { ref: false }),
};

/** Creates the turns of a process. */
export function createTurns({ elapsed, passOn, pause }: TurnClock = realClock): Turns {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  let isPassing = false;
  let onEnd: (() => void) | undefined;
  /** When the current slice is over, which all share: what began in the same turn of the event loop goes on in the next one. */
  let sliceEnd = -Infinity;

  /** Lets one after the other begin, each in a turn of its own. */
  async function pass(): Promise<void> {
    isPassing = true;
    while (waiting.length > 0) {
      await passOn();
      if (underWay > 0) await Promise.race([pause(mostPauseMs), new Promise<void>((resolve) => (onEnd = resolve))]);
      sliceEnd = elapsed() + sliceMs;
      waiting.shift()?.();
    }
    isPassing = false;
  }

  const next = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (!isPassing) void pass();
    });

  return {
    next,
    async each(items, visit) {
      let count = 0;
      const isOver = () => ++count % unlooked === 0 && elapsed() >= sliceEnd;
      // An iterator makes an object for each item, which is most of the garbage of a list of 10,000 policies. `forEach` cannot be interrupted.
      if (isList(items)) {
        for (let index = 0; index < items.length; index++) {
          visit(items[index] as (typeof items)[number]);
          if (isOver()) await next();
        }
        return;
      }
      for (const item of items) {
        visit(item);
        if (isOver()) await next();
      }
    },
    async first(work) {
      underWay++;
      try {
        return await work();
      } finally {
        underWay--;
        if (underWay === 0) onEnd?.();
      }
    },
  };
}

function isList<T>(items: Iterable<T>): items is readonly T[] {
  return Array.isArray(items);
}
