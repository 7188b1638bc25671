/** The rate limit of a receiver, shared by all replicas without making a push wait for Redis. */
import { within } from '../../core/async/deadline.ts';

/** Adds to the count of a window that all replicas share, and returns the sum. May reject or hang. */
export type AddToCount = (receiver: string, window: number, count: number) => Promise<number>;

export interface RateLimit {
  /** Counts a request. Resolves to 0 if it is within the limit, otherwise to the seconds until the next request is. */
  count(receiver: string, perMinute: number): Promise<number>;
}

interface RateLimitOptions {
  readonly addToCount: AddToCount;
  readonly now: () => number;
  /** The longest time that a request waits for the sum of all replicas. */
  readonly patienceMs?: number;
}

/** Requests whose number has not been sent to Redis yet. */
interface Batch {
  size: number;
  /** The sum of all replicas before this batch; undefined if Redis does not answer. */
  readonly before: Promise<number | undefined>;
  readonly resolve: (before: number | undefined) => void;
}

interface Count {
  readonly window: number;
  /** The number of requests that this process has received in the window. */
  own: number;
  /** The last known number of requests of all replicas in the window. */
  known: number;
  /** The number of requests of this process that have not been sent to Redis yet. */
  unsent: number;
  open: Batch | undefined;
  sending: boolean;
  timer?: NodeJS.Timeout | undefined;
}

const windowMs = 60_000;
/** How often replicas exchange their counts far from the limit, where no request waits. */
const exchangeMs = 200;
/** The highest limit (a hundred requests a second) at which each request may wait for the exact count, because no large burst fits into the limit. */
const exactBelow = 6_000;

/**
 * Creates a rate limit with fixed windows of a minute. Far from the limit, a request is counted here and sent to the other replicas within 200 ms. From half of
 * the limit on, and always with a small limit, it waits for the sum of all replicas, 50 ms at most. If Redis does not answer, the count of this process
 * decides: Redis is never the reason to refuse a request.
 */
export function createRateLimit({ addToCount, now, patienceMs = 50 }: RateLimitOptions): RateLimit {
  const counts = new Map<string, Count>();

  const send = async (receiver: string, count: Count): Promise<void> => {
    if (count.sending || count.open === undefined) return;
    const batch = count.open;
    count.open = undefined;
    count.sending = true;
    const sum = await addToCount(receiver, count.window, batch.size).catch(() => undefined);
    count.sending = false;
    count.unsent -= batch.size;
    count.known = Math.max(sum ?? count.known, count.own - count.unsent);
    batch.resolve(sum === undefined ? undefined : sum - batch.size);
    if (count.open !== undefined) void send(receiver, count);
  };
  const current = (receiver: string): Count => {
    const window = Math.floor(now() / windowMs);
    const found = counts.get(receiver);
    if (found?.window === window) return found;
    const count: Count = { window, own: 0, known: 0, unsent: 0, open: undefined, sending: false };
    counts.set(receiver, count);
    return count;
  };

  return {
    async count(receiver, perMinute) {
      const count = current(receiver);
      const secondsLeft = Math.max(1, Math.ceil(((count.window + 1) * windowMs - now()) / 1_000));
      if (count.known >= perMinute || count.own >= perMinute) return secondsLeft;
      const own = ++count.own;
      count.unsent++;
      const batch = (count.open ??= openBatch());
      const index = ++batch.size;
      if (perMinute >= exactBelow && count.known + count.unsent <= perMinute / 2) {
        count.timer ??= setTimeout(() => {
          count.timer = undefined;
          void send(receiver, count);
        }, exchangeMs).unref();
        return 0;
      }
      void send(receiver, count);
      const before = await within(patienceMs, batch.before);
      const position = before === undefined ? own : before + index;
      return position > perMinute ? secondsLeft : 0;
    },
  };
}

function openBatch(): Batch {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  return { size: 0, before: promise, resolve };
}
