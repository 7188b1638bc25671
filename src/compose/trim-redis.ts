import { describeError } from '../model/errors.ts';
import type { RedisConnection } from '../queue/connection.ts';
import { bytesPerRecord, forgetOldestRecords } from '../queue/forget-records.ts';
import type { WorkQueues } from '../queue/producer.ts';
import type { RedisHealth } from '../queue/redis-health.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface RoomPorts {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly health: () => RedisHealth;
  readonly queues: Pick<WorkQueues, 'forgetCompleted' | 'forgetFailed'>;
  readonly logger: Logger;
}

/** Receivers refuse from 0.8 on: what is done has to go before that, for it stays until others are done after it. */
export const crowdedShare = 0.7;
const everyMs = 1_000;

/**
 * Keeps room for pushes in a Redis that is nearly full: completed jobs are forgotten early, where that is not enough the oldest audit records, and at last the oldest failed
 * jobs, which could be replayed. Otherwise what is told of the past could keep out what is new, and in a full Redis no job could be finished.
 */
export function trimRedis({ redis, prefix, health, queues, logger }: RoomPorts): { start(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let wasCrowded = false;
  let isBusy = false;
  const makeRoom = async () => {
    const { memoryShare: share, memoryLimit = 0 } = health();
    const isStillCrowded = wasCrowded;
    wasCrowded = share > crowdedShare;
    if (!wasCrowded) return;
    const jobs = await queues.forgetCompleted();
    // Half of what is too much: other replicas do the same.
    const tooMuch = isStillCrowded ? Math.ceil(((share - crowdedShare) * memoryLimit) / bytesPerRecord / 2) : 0;
    const records = await forgetOldestRecords(redis, prefix, tooMuch);
    const failedJobs = await queues.forgetFailed(tooMuch - records);
    if (jobs + records + failedJobs > 0)
      logger.warn({ jobs, records, failedJobs, share }, 'redis nearly full, finished work is trimmed early');
  };
  const look = async () => {
    if (isBusy) return;
    isBusy = true;
    try {
      await makeRoom();
    } catch (error) {
      logger.warn({ why: describeError(error) }, 'redis could not be trimmed');
    } finally {
      isBusy = false;
    }
  };
  return {
    start: () => void (timer ??= setInterval(() => void look(), everyMs)),
    stop: () => clearInterval(timer),
  };
}
