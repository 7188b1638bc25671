/** The tick that enqueues due polls. It runs once per period in the whole cluster, on any replica. */
import type { PollJob } from '../queue/jobs.ts';
import type { Policies, Registry } from '../reconcile/ports.ts';
import { createDuePolls, tickMs } from './poll-schedule.ts';

export interface TickPorts {
  readonly policies: Pick<Policies, 'all'>;
  readonly registry: Pick<Registry, 'sourceOf'>;
  readonly queues: PollQueue;
}

export interface PollQueue {
  readonly addPolls: (polls: readonly ScheduledPoll[]) => Promise<void>;
  /** The end of the period that ticks have covered, in ms since 1970. */
  readonly readLastTick: () => Promise<number | undefined>;
  readonly writeLastTick: (at: number) => Promise<void>;
  /** A clock that all replicas share, in ms since 1970. With clocks of their own, a replica whose clock is behind would enqueue the same polls again. */
  readonly readClock: () => Promise<number>;
}

/** A poll to be enqueued, with its delay. */
export interface ScheduledPoll {
  readonly job: PollJob;
  readonly delayMs: number;
}

/** The tolerated difference between the clocks of servers, which appears after a failover. A larger one means that the clock was set back. */
const clockSkewMs = 60_000;

/** Enqueues the polls that became due since the last tick. It is idempotent. */
export function createTick(ports: TickPorts): () => Promise<void> {
  const duePolls = createDuePolls(ports.registry.sourceOf);
  return async () => {
    const [now, known] = await Promise.all([ports.queues.readClock(), ports.queues.readLastTick()]);
    const last = known ?? now - tickMs;
    if (last >= now && last - now <= clockSkewMs) return;
    const from = last > now ? now - tickMs : last;
    const due = duePolls(ports.policies.all(), from, now);
    const receivedAt = new Date(now).toISOString();
    await ports.queues.addPolls(due.map(({ delayMs, ...poll }) => ({ job: { schema: 1, ...poll, receivedAt }, delayMs })));
    await ports.queues.writeLastTick(now);
  };
}
