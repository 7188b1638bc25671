/** The clock of the polls: once per tick in the whole cluster, whichever replica does it. */
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import type { ImageSource } from '../model/image-source.ts';
import type { PollJob } from '../queue/jobs.ts';
import { createDuePolls } from './due-polls.ts';
import { tickMs } from './poll-turn.ts';

export interface TickPorts {
  readonly policies: () => Iterable<ImagePolicy>;
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
  readonly addPolls: (polls: readonly ScheduledPoll[]) => Promise<void>;
  /** The end of the time that ticks have looked at, in ms since 1970. */
  readonly readLastTick: () => Promise<number | undefined>;
  readonly writeLastTick: (at: number) => Promise<void>;
  /** One clock for all replicas, in ms since 1970: with clocks of their own, one that is ahead would poll what others poll again. */
  readonly readClock: () => Promise<number>;
}

/** A poll to be queued, and how long it is to wait there. */
export interface ScheduledPoll {
  readonly job: PollJob;
  readonly delayMs: number;
}

/** After a failover the clock may be another server's, which differs by less; beyond, somebody has set the clock back. */
const clockSkewMs = 60_000;

/** Enqueues the polls whose turn came since the last tick. Done twice, it does no harm. */
export function createTick(ports: TickPorts): () => Promise<void> {
  const duePolls = createDuePolls(ports.sourceOf);
  return async () => {
    const [now, known] = await Promise.all([ports.readClock(), ports.readLastTick()]);
    const last = known ?? now - tickMs;
    if (last >= now && last - now <= clockSkewMs) return;
    const from = last > now ? now - tickMs : last;
    const due = duePolls(ports.policies(), from, now);
    const receivedAt = new Date(now).toISOString();
    await ports.addPolls(due.map(({ delayMs, ...poll }) => ({ job: { schema: 1, ...poll, receivedAt }, delayMs })));
    await ports.writeLastTick(now);
  };
}
