/** Turns at a host that all replicas share, so that its limits hold however many there are. */
import { createLimiter } from './limiter.ts';
import { sleep as defaultSleep, type Sleep } from '../async/sleep.ts';

/** What the configuration allows a host, of all replicas together; absent: as many as come. */
export interface SharedLimits {
  readonly concurrency?: number;
  readonly requestsPerSecond?: number;
}

/** `start`: a turn, which begins in so many milliseconds · `full`: all places are taken · `late`: the pace allows none before then. */
export interface TurnAnswer {
  readonly kind: 'start' | 'full' | 'late';
  readonly waitMs: number;
}

/** Where the turns are kept. A turn that is not released (the replica was killed) ends by itself after `lifeMs`. */
export interface SharedTurns {
  /** May reject when the turns cannot be reached. */
  take(host: string, lease: string, limits: SharedLimits, times: { lifeMs: number; maxAheadMs: number }): Promise<TurnAnswer>;
  release(host: string, lease: string): Promise<void>;
}

export interface SharedGateOptions {
  readonly turns: SharedTurns;
  readonly host: string;
  readonly limits: SharedLimits;
  readonly lifeMs: number;
  readonly newLease: () => string;
  /** The error for those who must come again. */
  readonly refuse: (why: string, waitMs: number) => Error;
  readonly now: () => number;
  readonly sleep?: Sleep;
}

/** Waits for a turn; answers the function that ends it. */
export type SharedGate = (signal?: AbortSignal) => Promise<() => void>;

const maxAheadMs = 1_000;
const patienceMs = 2_000;
const askAgainMs = 50;
// So long nobody asks for shared turns that cannot be had: what is limited here is limited for the registry's sake, not for correctness.
const awayMs = 2_000;

/** Only one of a replica asks at a time: the others are behind it in any case. When the turns cannot be reached, the replica's own limits are all there is. */
export function createSharedGate(options: SharedGateOptions): SharedGate {
  const { turns, host, limits, lifeMs, newLease, refuse, now, sleep = defaultSleep } = options;
  const head = createLimiter({ concurrency: 1 });
  let awayUntil = 0;
  let freed = Promise.withResolvers<void>();

  const ask = async (lease: string): Promise<TurnAnswer | undefined> => {
    if (now() < awayUntil) return undefined;
    try {
      return await turns.take(host, lease, limits, { lifeMs, maxAheadMs });
    } catch {
      // Whoever keeps the turns tells of its own failures.
      awayUntil = now() + awayMs;
      return undefined;
    }
  };
  const wake = () => {
    freed.resolve();
    freed = Promise.withResolvers<void>();
  };
  const release = (lease: string) => {
    // What cannot be released ends by itself.
    turns.release(host, lease).then(wake, wake);
  };

  const takeTurn = async (lease: string, signal?: AbortSignal): Promise<TurnAnswer | undefined> => {
    const end = await head.acquire(signal);
    try {
      const deadline = now() + patienceMs;
      for (;;) {
        const answer = await ask(lease);
        if (answer === undefined || answer.kind === 'start') return answer;
        if (answer.kind === 'late') throw refuse(`${limits.requestsPerSecond} requests a second are allowed`, answer.waitMs);
        if (now() >= deadline) throw refuse(`all replicas together run ${limits.concurrency} requests`, 1_000);
        await Promise.race([sleep(askAgainMs, signal), freed.promise]);
      }
    } finally {
      end();
    }
  };

  return async (signal) => {
    const lease = newLease();
    const turn = await takeTurn(lease, signal);
    if (turn === undefined) {
      signal?.throwIfAborted();
      return () => undefined;
    }
    try {
      if (turn.waitMs > 0) await sleep(turn.waitMs, signal);
      signal?.throwIfAborted();
    } catch (error) {
      release(lease);
      throw error;
    }
    return () => release(lease);
  };
}
