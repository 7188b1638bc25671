/** The jobs that request rebuilds from CI systems, and those that report the requests. */
import type { BaseImagePolicy } from '../core/model/base-policy.ts';
import { defined } from '../core/model/defined.ts';
import { formatRepository } from '../core/model/image-reference.ts';
import type { BaseJob, TriggerJob } from '../service/queue/jobs.ts';
import type { QueueAccess, WorkQueues } from '../service/queue/producer.ts';
import { createRebuildRecords } from '../service/queue/rebuild-records.ts';
import { jobFor } from './policies/enqueue-bases.ts';
import type { RebuildPorts } from './policies/request-rebuilds.ts';

/** The records of this time are reported in one reconcile, because each reconcile examines all images. */
const gatherMs = 5_000;

/** Requests rebuilds by jobs of the queue `trigger`, and reads the records that those jobs write. */
export function createRebuilds({
  queue,
  queues,
}: {
  readonly queue: QueueAccess;
  readonly queues: Pick<WorkQueues, 'addTriggerJobs'>;
}): RebuildPorts['rebuilds'] {
  const records = createRebuildRecords(queue.redis, queue.prefix);
  return {
    async request(orders) {
      const receivedAt = new Date().toISOString();
      const jobs = orders.map(({ policy: { namespace, name, uid, spec }, base, pipeline, source, image, after }): TriggerJob => {
        const repository = formatRepository(spec.base.repository);
        return {
          schema: 1,
          policy: { namespace, name, uid },
          pipeline,
          base: { repository, ...base },
          source,
          image,
          ...defined({ after }),
          receivedAt,
        };
      });
      await queues.addTriggerJobs(jobs);
      for (const { policy, base, pipeline, source } of jobs)
        await records.writeFirst(policy.uid, base.digest, { pipeline, source, state: 'Pending', at: receivedAt });
    },
    read: ({ uid }, { digest }, rebuilds) => records.read(uid, digest, rebuilds),
  };
}

/** The job in which a policy reports its records, one for all records of five seconds. */
export function reportJob(policy: BaseImagePolicy, now: number): BaseJob {
  const end = (Math.floor(now / gatherMs) + 1) * gatherMs;
  return { ...jobFor(policy, 'TargetChange', `rebuilds:${end}`, now), notBefore: new Date(end).toISOString() };
}
