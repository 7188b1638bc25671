import { describeError } from '../../core/model/errors.ts';
import type { RedisConnection } from '../queue/connection.ts';
import { bytesPerRecord, forgetOldestRecords } from '../queue/event-log.ts';
import type { WorkQueues } from '../queue/producer.ts';
import type { RedisHealth } from '../queue/redis-health.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface TrimPorts {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly health: () => RedisHealth;
  readonly queues: Pick<WorkQueues, 'forgetCompleted' | 'forgetFailed'>;
  readonly logger: Logger;
}

/** Receivers refuse pushes above 0.8: finished work must be removed before that. */
export const crowdedShare = 0.7;
const everyMs = 1_000;

/**
 * Frees memory for pushes in a Redis that is nearly full: removes completed jobs early, if that is not enough the oldest audit records, and finally the oldest
 * failed jobs, which could be replayed. Otherwise records could keep new pushes out, and no job could finish in a full Redis.
 */
export function trimRedis({ redis, prefix, health, queues, logger }: TrimPorts): { start(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let wasNearlyFull = false;
  let isBusy = false;
  const trim = async () => {
    const { memoryShare: share, memoryLimit = 0 } = health();
    const isStillNearlyFull = wasNearlyFull;
    wasNearlyFull = share > crowdedShare;
    if (!wasNearlyFull) return;
    const jobs = await queues.forgetCompleted();
    // Half of the excess: other replicas do the same.
    const excess = isStillNearlyFull ? Math.ceil(((share - crowdedShare) * memoryLimit) / bytesPerRecord / 2) : 0;
    const records = await forgetOldestRecords(redis, prefix, excess);
    const failedJobs = await queues.forgetFailed(excess - records);
    if (jobs + records + failedJobs > 0)
      logger.warn({ jobs, records, failedJobs, share }, 'redis nearly full, finished work is trimmed early');
  };
  const run = async () => {
    if (isBusy) return;
    isBusy = true;
    try {
      await trim();
    } catch (error) {
      logger.warn({ why: describeError(error) }, 'redis could not be trimmed');
    } finally {
      isBusy = false;
    }
  };
  return {
    start: () => void (timer ??= setInterval(() => void run(), everyMs)),
    stop: () => clearInterval(timer),
  };
}
