/** Measures how long jobs still have to wait, by a monotonic clock. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { sleep } from '../../core/async/backoff.ts';

/** Identifies a job of the queue. A later job may have the same id. */
export interface WaitingJob {
  readonly id?: string | undefined;
  readonly timestamp: number;
}

/**
 * The waits that this process has asked for. The queue compares the due time of a job with the clock of the worker that takes it. A worker whose clock is ahead
 * brings the job back too early, and this process may take it again.
 */
export interface Waits {
  /** Begins a wait during which the job must not be tried. Returns how long to leave the job in the queue, in ms. */
  begin(job: WaitingJob, ms: number): number;
  /** Resolves to the rest of the wait in ms, when the wait is over or after a short time. Ends early when the process stops. */
  finish(job: WaitingJob, signal: AbortSignal): Promise<number>;
}

/** The minimum delay of a job, so that a time that has passed by the clock of another machine does not make the job run in circles. */
const leastMs = 100;
/** The longest wait in a worker: short enough for other jobs, and long enough that a job that comes back too early costs little. */
const longestInHandMs = 500;
const maxWaits = 10_000;

/** Creates an empty set of waits. `elapsed`: a monotonic clock in ms. */
export function createWaits(): Waits {
  const ends = new BoundedMap<string, number>(maxWaits);
  return {
    begin(job, ms) {
      const waitMs = Math.max(leastMs, ms);
      ends.set(keyOf(job), performance.now() + waitMs);
      return waitMs;
    },
    async finish(job, signal) {
      const key = keyOf(job);
      const restMs = () => (ends.get(key) ?? 0) - performance.now();
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
