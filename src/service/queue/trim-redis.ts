/** Frees memory in a Redis that is nearly full. */
import type { RedisConnection } from './connection.ts';
import { forgetOldestActivities } from './activity-stream.ts';
import { bytesPerRecord, forgetOldestRecords } from './event-log.ts';
import type { WorkQueues } from './producer.ts';
import type { RedisHealth } from './redis-health.ts';

/** How much finished work was removed, and the used share of the memory before. */
export interface Trimmed {
  readonly jobs: number;
  readonly records: number;
  readonly activities: number;
  readonly failedJobs: number;
  readonly share: number;
}

export interface TrimPorts {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly health: () => RedisHealth;
  readonly queues: Pick<WorkQueues, 'forgetCompleted' | 'forgetFailed'>;
  /** Called if a check removed something. */
  readonly onTrimmed: (trimmed: Trimmed) => void;
  /** Called if a check failed; the next check repeats it. */
  readonly onError: (error: unknown) => void;
}

/** Checks the memory of Redis once a second after its start. */
export interface Trimming {
  start(): void;
  stop(): void;
}

/** The used share of the memory above which finished work is removed. Receivers refuse pushes above 0.8, so this must be lower. */
export const crowdedShare = 0.7;
const everyMs = 1_000;

/**
 * Frees memory for pushes in a Redis that is nearly full: removes completed jobs early, if that is not enough the oldest audit records, then the oldest activities, and finally the oldest
 * failed jobs, which could be replayed. Otherwise records could keep new pushes out, and no job could finish in a full Redis.
 */
export function createTrimming({ redis, prefix, health, queues, onTrimmed, onError }: TrimPorts): Trimming {
  let timer: NodeJS.Timeout | undefined;
  let wasNearlyFull = false;
  let isBusy = false;
  const trim = async () => {
    const { memoryShare: share, memoryLimit = 0 } = health();
    const isStillNearlyFull = wasNearlyFull;
    wasNearlyFull = share > crowdedShare;
    if (!wasNearlyFull) return;
    const jobs = await queues.forgetCompleted();
    // Only half of the excess is removed, because other replicas do the same.
    const excess = isStillNearlyFull ? Math.ceil(((share - crowdedShare) * memoryLimit) / bytesPerRecord / 2) : 0;
    const records = await forgetOldestRecords(redis, prefix, excess);
    const activities = await forgetOldestActivities(redis, prefix, excess - records);
    const failedJobs = await queues.forgetFailed(excess - records - activities);
    if (jobs + records + activities + failedJobs > 0) onTrimmed({ jobs, records, activities, failedJobs, share });
  };
  const run = async () => {
    if (isBusy) return;
    isBusy = true;
    try {
      await trim();
    } catch (error) {
      onError(error);
    } finally {
      isBusy = false;
    }
  };
  return {
    start: () => void (timer ??= setInterval(() => void run(), everyMs)),
    stop: () => clearInterval(timer),
  };
}
