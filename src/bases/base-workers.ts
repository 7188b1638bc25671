/** What BaseImagePolicies keep in Redis, and the workers of the queues `base` and `trigger`. */
import { createDependentsStore, keptLimits } from './record/kept-dependents.ts';
import { createReportedNotices } from './record/reported-notices.ts';
import { createImageFactsStore } from '../service/queue/image-facts.ts';
import type { BaseJob } from '../service/queue/jobs.ts';
import type { QueueAccess, WorkQueues } from '../service/queue/producer.ts';
import { readBaseJob } from '../service/queue/read-job.ts';
import type { RedisHealth } from '../service/queue/redis-health.ts';
import { createWorker, type QueueWorker } from '../service/queue/worker.ts';
import type { BaseMeans, BasePart } from './compose-bases.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import { createTriggerWorker } from './compose-triggers.ts';
import { createRebuilds } from './rebuild-jobs.ts';

const concurrency = 8;
/** Facts about images and lists of dependents are not written beyond this share of the memory of Redis: they can be made again, and pushes cannot. */
const maxMemoryShare = 0.7;

/** The name of the store of dependents, with the version of its texts. */
const dependentsName = 'dependents:v1';

/** The stores in Redis for facts about images, for dependents, for reported notices, and for requests of rebuilds. */
export function storeBases(
  queue: QueueAccess,
  queues: WorkQueues,
  redisHealth: () => RedisHealth,
): Pick<BaseMeans, 'queues' | 'facts' | 'dependents' | 'reported' | 'rebuilds'> {
  const { redis, prefix } = queue;
  const canWrite = () => redisHealth().memoryShare < maxMemoryShare;
  const store = { redis, prefix, now: Date.now, canWrite };
  return {
    queues,
    facts: createImageFactsStore(store),
    dependents: createDependentsStore(createImageFactsStore({ ...store, ...keptLimits, name: dependentsName }), Date.now),
    reported: createReportedNotices(queue),
    rebuilds: createRebuilds({ queue, queues }),
  };
}

/** What the workers of the queues `base` and `trigger` share with the rest of the role. */
export interface BaseWorkerMeans extends Pick<BaseMeans, 'readSecret'> {
  readonly queue: QueueAccess;
  readonly queues: WorkQueues;
  readonly bases: Pick<BasePart, 'process' | 'confirmed'>;
}

/** Creates the workers of the queues `base` and `trigger`, without starting them. */
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
