/** Since when a registry has had to show what it announced. */
import { BoundedMap } from '../../core/async/bounded-map.ts';

/** The clocks of receivers and workers differ by less; what is older, or later, was not received just now. */
const maxSkewMs = 300_000;
/** What seems to have waited for longer is not waited for in hand: its worker goes on with other jobs. */
const longestInHandMs = 1_000;
const maxAnnouncements = 10_000;

export interface Announcements {
  /**
   * When a push, or what else caused a job, was announced, in ms since 1970 by the clock of this process. Whether a push has waited in the queue, or the clock of its
   * receiver differs, cannot be told from its time: so the time counts from when this process first took the push, unless that is minutes ago.
   */
  since(id: string, receivedAt: string): number;
}

/** The clock of the process, and one that nobody sets, in ms. */
export interface Clocks {
  readonly now: () => number;
  readonly elapsed: () => number;
}

/** Starts without any pushes. */
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
