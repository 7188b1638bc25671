/** What BaseImagePolicies keep in Redis, and their workers: of the queues `base` and `trigger`. */
import { createImageFactsStore } from '../service/queue/image-facts.ts';
import type { BaseJob } from '../service/queue/jobs.ts';
import type { QueueAccess, WorkQueues } from '../service/queue/producer.ts';
import { readBaseJob } from '../service/queue/read-job.ts';
import type { RedisHealth } from '../service/queue/redis-health.ts';
import { createWorker, type QueueWorker } from '../service/queue/worker.ts';
import type { BaseMeans, BasePart } from './compose-bases.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import { createRebuilds, createTriggerWorker } from './compose-triggers.ts';

const concurrency = 8;
/** Facts can be read again; pushes cannot. */
const maxMemoryShare = 0.7;

/** The facts about images, and the requests of rebuilds. */
export function storeBases(
  queue: QueueAccess,
  queues: WorkQueues,
  redisHealth: () => RedisHealth,
): Pick<BaseMeans, 'queues' | 'facts' | 'rebuilds'> {
  const { redis, prefix } = queue;
  const canWrite = () => redisHealth().memoryShare < maxMemoryShare;
  return { queues, facts: createImageFactsStore({ redis, prefix, now: Date.now, canWrite }), rebuilds: createRebuilds({ queue, queues }) };
}

/** What the workers share with the rest of the role. */
export interface BaseWorkerMeans extends Pick<BaseMeans, 'readSecret'> {
  readonly queue: QueueAccess;
  readonly queues: WorkQueues;
  readonly bases: Pick<BasePart, 'process' | 'confirmed'>;
}

/** Builds them; they are not started. */
export function createBaseWorkers(foundation: Foundation, { queue, queues, bases, readSecret }: BaseWorkerMeans): QueueWorker[] {
  const worker = createWorker<BaseJob>({
    access: queue,
    now: Date.now,
    random: Math.random,
    queue: 'base',
    concurrency,
    read: readBaseJob,
    process: bases.process,
  });
  const { read: findPolicy, isAsPlanned } = bases.confirmed;
  return [worker, createTriggerWorker(foundation, { queue, queues, findPolicy, isAsPlanned, readSecret })];
}
