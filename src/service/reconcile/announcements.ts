/** Records since when a registry has had to show what was announced. */
import { BoundedMap } from '../../core/async/bounded-map.ts';

/** The largest expected difference between the clocks of receivers and workers. Announcements that are older, or later, were not received just now. */
const maxSkewMs = 300_000;
/** How long a worker waits for one announcement. For a longer wait, the job returns to the queue, and its worker goes on with other jobs. */
const longestInHandMs = 1_000;
const maxAnnouncements = 10_000;

export interface Announcements {
  /**
   * When a push, or another cause of a job, was announced, in ms since 1970 by the clock of this process. Its own time does not show whether it has waited in
   * the queue, or whether its receiver's clock differs. So the time counts from when this process first took the push, unless its own time is minutes ago.
   */
  since(id: string, receivedAt: string): number;
}

/** The clock of the process, and a monotonic clock, in ms. */
export interface Clocks {
  readonly now: () => number;
  readonly elapsed: () => number;
}

/** Creates an empty record of announcements. */
export function createAnnouncements({ now, elapsed }: Clocks): Announcements {
  const taken = new BoundedMap<string, number>(maxAnnouncements);
  return {
    since(id, receivedAt) {
      const received = Date.parse(receivedAt);
      if (received < now() - maxSkewMs) return received;
      const first = taken.get(id) ?? elapsed();
      taken.set(id, first);
      const since = now() - (elapsed() - first);
      return Math.min(since, Math.max(received, since - longestInHandMs));
    },
  };
}
