/** When those should be back who found no place in a line. */
export interface ReturnTimes {
  /** A turn has ended, and the next one begins if somebody waits for it. */
  turn(somebodyWaits: boolean): void;
  /** Milliseconds from now for one more of them, `soonestMs` at least. */
  next(soonestMs: number): number;
}

/** A host may be quicker again than it was; and who waits longer has to be told why. */
const longestMs = 4_000;
/** Of the newest time between two turns. */
const weight = 0.1;

/**
 * They come back one after the other, as turns come, `spacingMs` apart at least: together they would only be refused again, each at the price of a write to Redis. 4 s
 * later at most, or after `soonestMs`.
 */
export function createReturnTimes(spacingMs: number, now: () => number): ReturnTimes {
  /** From one turn to the next while somebody waits; 0: not known. */
  let turnMs = 0;
  let lastTurn: number | undefined;
  let lastReturn = 0;
  return {
    turn(somebodyWaits) {
      const at = now();
      if (somebodyWaits && lastTurn !== undefined) turnMs += (turnMs === 0 ? 1 : weight) * (at - lastTurn - turnMs);
      lastTurn = somebodyWaits ? at : undefined;
    },
    next(soonestMs) {
      const at = now();
      const inTurn = Math.max(lastReturn + Math.max(turnMs, spacingMs), at + soonestMs);
      lastReturn = Math.min(inTurn, at + Math.max(longestMs, soonestMs));
      return lastReturn - at;
    },
  };
}
