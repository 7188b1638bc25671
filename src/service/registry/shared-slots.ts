/** Slots for requests to a host that all replicas share, so that its limits hold for any number of replicas. */
import { createLimiter } from './limiter.ts';
import { type Sleep, sleep as defaultSleep } from '../../core/async/backoff.ts';

/** The configured limits of a host for all replicas together; unlimited unless given. */
export interface SharedLimits {
  readonly concurrency?: number;
  readonly requestsPerSecond?: number;
}

/** An answer about a slot. `start`: a slot begins after `waitMs` · `full`: all slots are taken · `late`: the rate allows none before `waitMs`. */
export interface SlotAnswer {
  readonly kind: 'start' | 'full' | 'late';
  readonly waitMs: number;
}

/** A store of slots. A slot that is not released, because its replica was killed, expires after `lifeMs`. */
export interface SharedSlots {
  /** Takes a slot; may reject if the store cannot be reached. */
  take(host: string, lease: string, limits: SharedLimits, times: { lifeMs: number; maxAheadMs: number }): Promise<SlotAnswer>;
  release(host: string, lease: string): Promise<void>;
}

export interface SharedGateOptions {
  readonly slots: SharedSlots;
  readonly host: string;
  readonly limits: SharedLimits;
  readonly lifeMs: number;
  readonly newLease: () => string;
  /** The error of a refused request, which should be repeated after `waitMs`. */
  readonly refuse: (why: string, waitMs: number) => Error;
  readonly now: () => number;
  readonly sleep?: Sleep;
}

/** Waits for a slot; returns the function that releases it. */
export type SharedGate = (signal?: AbortSignal) => Promise<() => void>;

const maxAheadMs = 1_000;
const patienceMs = 2_000;
const pollMs = 50;
// The pause after the store was unreachable, during which only the replica's own limits apply. Correctness does not depend on the shared ones.
const awayMs = 2_000;

/** Creates a gate. Only one request of a replica polls the store at a time; others queue. If the store is unreachable, only the replica's own limits apply. */
export function createSharedGate(options: SharedGateOptions): SharedGate {
  const { slots, host, limits, lifeMs, newLease, refuse, now, sleep = defaultSleep } = options;
  const head = createLimiter({ concurrency: 1 });
  let awayUntil = 0;
  let freed = Promise.withResolvers<void>();

  const ask = async (lease: string): Promise<SlotAnswer | undefined> => {
    if (now() < awayUntil) return undefined;
    try {
      return await slots.take(host, lease, limits, { lifeMs, maxAheadMs });
    } catch {
      // The error is not reported here, because the store reports its own failures.
      awayUntil = now() + awayMs;
      return undefined;
    }
  };
  const notify = () => {
    freed.resolve();
    freed = Promise.withResolvers<void>();
  };
  const release = (lease: string) => {
    // A failed release is ignored, because a slot that cannot be released expires.
    slots.release(host, lease).then(notify, notify);
  };

  const takeSlot = async (lease: string, signal?: AbortSignal): Promise<SlotAnswer | undefined> => {
    const end = await head.acquire(signal);
    try {
      const deadline = now() + patienceMs;
      for (;;) {
        const answer = await ask(lease);
        if (answer === undefined || answer.kind === 'start') return answer;
        if (answer.kind === 'late') throw refuse(`${limits.requestsPerSecond} requests a second are allowed`, answer.waitMs);
        if (now() >= deadline) throw refuse(`all replicas together run ${limits.concurrency} requests`, 1_000);
        await Promise.race([sleep(pollMs, signal), freed.promise]);
      }
    } finally {
      end();
    }
  };

  return async (signal) => {
    const lease = newLease();
    const slot = await takeSlot(lease, signal);
    if (slot === undefined) {
      signal?.throwIfAborted();
      return () => undefined;
    }
    try {
      if (slot.waitMs > 0) await sleep(slot.waitMs, signal);
      signal?.throwIfAborted();
    } catch (error) {
      release(lease);
      throw error;
    }
    return () => release(lease);
  };
}
