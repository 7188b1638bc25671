/** How long jobs still have to wait, by a clock that nobody sets. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { sleep } from '../../core/async/backoff.ts';

/** A job of the queue; a later one may have the same id. */
export interface WaitingJob {
  readonly id?: string | undefined;
  readonly timestamp: number;
}

/**
 * The waits that this process has asked for. The queue compares the time at which a job is due with the clock of whichever worker looks: one whose clock is ahead brings
 * the job back at once, and this process may take it again.
 */
export interface Waits {
  /** The job is not to be tried for this time. Returns how long to leave it in the queue. */
  begin(job: WaitingJob, ms: number): number;
  /** Resolves when the wait is over, or soon, with what is left of it. Ends early when the process stops. */
  finish(job: WaitingJob, signal: AbortSignal): Promise<number>;
}

/** A time that has passed already, by the clock of another machine, must not make a job run in circles. */
const leastMs = 100;
/** Short enough for other jobs, and long enough that a job that comes back too early costs little. */
const longestInHandMs = 500;
const maxWaits = 10_000;

/** No job waits. `elapsed`: in ms. */
export function createWaits(elapsed: () => number = () => performance.now()): Waits {
  const ends = new BoundedMap<string, number>(maxWaits);
  return {
    begin(job, ms) {
      const waitMs = Math.max(leastMs, ms);
      ends.set(keyOf(job), elapsed() + waitMs);
      return waitMs;
    },
    async finish(job, signal) {
      const key = keyOf(job);
      const restMs = () => (ends.get(key) ?? 0) - elapsed();
      // A timer may fire a fraction of a millisecond early.
      if (restMs() >= 1) await sleep(Math.min(restMs(), longestInHandMs), signal).catch(() => undefined);
      if (restMs() >= 1) return restMs();
      ends.delete(key);
      return 0;
    },
  };
}

function keyOf({ id, timestamp }: WaitingJob): string {
  return `${id} ${timestamp}`;
}
