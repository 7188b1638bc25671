/** The tick of the polls: once per period in the whole cluster, on any replica. */
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import type { ImageSource } from '../model/image-source.ts';
import type { PollJob } from '../queue/jobs.ts';
import { createDuePolls } from './due-polls.ts';
import { tickMs } from './poll-turn.ts';

export interface TickPorts {
  readonly policies: () => Iterable<ImagePolicy>;
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
  readonly addPolls: (polls: readonly ScheduledPoll[]) => Promise<void>;
  /** The end of the period that ticks have covered, in ms since 1970. */
  readonly readLastTick: () => Promise<number | undefined>;
  readonly writeLastTick: (at: number) => Promise<void>;
  /** One clock for all replicas, in ms since 1970: if each used its own, polls that a fast clock had enqueued would be enqueued again. */
  readonly readClock: () => Promise<number>;
}

/** A poll to be enqueued, with its delay. */
export interface ScheduledPoll {
  readonly job: PollJob;
  readonly delayMs: number;
}

/** After a failover the clock may be another server's, which differs by less than this; a larger difference means that the clock was set back. */
const clockSkewMs = 60_000;

/** Enqueues the polls that became due since the last tick. It is idempotent. */
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
