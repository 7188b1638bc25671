/** How many requests a receiver may send in a minute, counted over all replicas without making a push wait for the count. */
import { within } from '../async/deadline.ts';

/** Adds to a window's count that all replicas share, and gives the sum of all. May reject or hang. */
export type AddToCount = (receiver: string, window: number, count: number) => Promise<number>;

export interface RateLimit {
  /** Counts a request. 0: it may pass; otherwise the seconds after which the next one may. */
  take(receiver: string, perMinute: number): Promise<number>;
}

interface RateLimitOptions {
  readonly addToCount: AddToCount;
  readonly now: () => number;
  /** How long a request waits for the count of all at most. */
  readonly patienceMs?: number;
}

/** Requests whose number is not told yet. */
interface Batch {
  size: number;
  /** The sum of all replicas before this batch; undefined when it cannot be had. */
  readonly before: Promise<number | undefined>;
  readonly tell: (before: number | undefined) => void;
}

interface Count {
  readonly window: number;
  /** Of this process. */
  own: number;
  /** Of all replicas, when last heard. */
  known: number;
  /** Of this process, not told yet. */
  untold: number;
  open: Batch | undefined;
  telling: boolean;
  timer?: NodeJS.Timeout | undefined;
}

const windowMs = 60_000;
/** Far from the limit replicas tell each other this often, and no request waits. */
const exchangeMs = 200;
/** Below a hundred a second each request may wait for the exact count: no burst that matters fits into the limit. */
const exactBelow = 6_000;

/**
 * Fixed windows of a minute. Far from the limit a request is counted here and told to the others within 200 ms; from half of it on (and always
 * when the limit is small) it waits for the count of all, 50 ms at most. When Redis does not answer, this process' own count is the limit's measure:
 * Redis is never the reason to refuse.
 */
export function createRateLimit({ addToCount, now, patienceMs = 50 }: RateLimitOptions): RateLimit {
  const counts = new Map<string, Count>();

  const tell = async (receiver: string, count: Count): Promise<void> => {
    if (count.telling || count.open === undefined) return;
    const batch = count.open;
    count.open = undefined;
    count.telling = true;
    const sum = await addToCount(receiver, count.window, batch.size).catch(() => undefined);
    count.telling = false;
    count.untold -= batch.size;
    count.known = Math.max(sum ?? count.known, count.own - count.untold);
    batch.tell(sum === undefined ? undefined : sum - batch.size);
    if (count.open !== undefined) void tell(receiver, count);
  };
  const current = (receiver: string): Count => {
    const window = Math.floor(now() / windowMs);
    const found = counts.get(receiver);
    if (found?.window === window) return found;
    const count: Count = { window, own: 0, known: 0, untold: 0, open: undefined, telling: false };
    counts.set(receiver, count);
    return count;
  };

  return {
    async take(receiver, perMinute) {
      const count = current(receiver);
      const secondsLeft = Math.max(1, Math.ceil(((count.window + 1) * windowMs - now()) / 1_000));
      if (count.known >= perMinute || count.own >= perMinute) return secondsLeft;
      const own = ++count.own;
      count.untold++;
      const batch = (count.open ??= openBatch());
      const index = ++batch.size;
      if (perMinute >= exactBelow && count.known + count.untold <= perMinute / 2) {
        count.timer ??= setTimeout(() => {
          count.timer = undefined;
          void tell(receiver, count);
        }, exchangeMs).unref();
        return 0;
      }
      void tell(receiver, count);
      const before = await within(patienceMs, batch.before);
      const position = before === undefined ? own : before + index;
      return position > perMinute ? secondsLeft : 0;
    },
  };
}

function openBatch(): Batch {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  return { size: 0, before: promise, tell: resolve };
}
