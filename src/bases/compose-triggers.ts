/** The part of the role `work` that requests rebuilds from CI systems. */
import { setTimeout } from 'node:timers/promises';
import { defined } from '../core/model/defined.ts';
import type { RebuildPorts } from './policies/request-rebuilds.ts';
import { jobFor } from './policies/enqueue-bases.ts';
import type { BaseImagePolicy } from '../core/model/base-policy.ts';
import { PermanentError } from '../core/model/errors.ts';
import { formatRepository } from '../core/model/image-reference.ts';
import type { TriggerJob } from '../service/queue/jobs.ts';
import type { QueueAccess, WorkQueues } from '../service/queue/producer.ts';
import { readTriggerJob } from '../service/queue/read-job.ts';
import { createRebuildRecords } from '../service/queue/rebuild-records.ts';
import type { ReadSecret } from '../service/registry/credentials/secret-offer.ts';
import { createWorker, type QueueWorker } from '../service/queue/worker.ts';
import { createPacer } from './triggers/pace.ts';
import { processTrigger, type TriggerPorts } from './triggers/process-trigger.ts';
import { sendRequest } from './triggers/send-request.ts';
import type { Foundation } from '../service/compose/foundation.ts';

/** What the requests of rebuilds share with the rest of the role. */
export interface TriggerMeans {
  readonly queue: QueueAccess;
  readonly queues: WorkQueues;
  readonly findPolicy: (namespace: string, name: string, signal: AbortSignal) => Promise<BaseImagePolicy | undefined>;
  readonly isAsPlanned: TriggerPorts['isAsPlanned'];
  readonly readSecret: ReadSecret;
}

const concurrency = 16;
/** The records of this time are reported in one reconcile, because each reconcile examines all images. */
const gatherMs = 5_000;
const publicHosts = ['api.github.com', 'gitlab.com'];

/** Requests rebuilds by jobs of the queue `trigger`, and reads the records that those jobs write. */
export function createRebuilds({ queue, queues }: Pick<TriggerMeans, 'queue' | 'queues'>): RebuildPorts['rebuilds'] {
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

/** The worker that sends requests of rebuilds to CI systems. */
export function createTriggerWorker(
  { settings, logger, outbound: { fetch } }: Foundation,
  { queue, queues, findPolicy, isAsPlanned, readSecret }: TriggerMeans,
): QueueWorker {
  const allowed = new Set([...publicHosts, ...settings.config.triggers.hosts].map(originOf));
  const ports: TriggerPorts = {
    findPolicy,
    isAsPlanned,
    async readSecret({ namespace, name, key }, options) {
      const content = await readSecret({ namespace, name }, options);
      const problem = (why: string) => new PermanentError('RebuildRefused', `Secret ${namespace}/${name} ${why}`);
      if ('why' in content) throw problem(content.why);
      const value = Object.hasOwn(content.data, key) ? content.data[key] : undefined;
      if (value === undefined) throw problem(`has no key ${key}`);
      // Trimmed, because editors add a line break at the end of a file.
      return Buffer.from(value, 'base64').toString('utf8').trim();
    },
    mayCall: (url) => allowed.has(url.origin),
    send: (request, signal) => sendRequest(request, { fetch, now: Date.now, signal }),
    records: createRebuildRecords(queue.redis, queue.prefix),
    async onRecorded(policy) {
      const now = Date.now();
      const end = (Math.floor(now / gatherMs) + 1) * gatherMs;
      const gathered = jobFor(policy, 'TargetChange', `rebuilds:${end}`, now);
      await queues.addBaseJobs([{ ...gathered, notBefore: new Date(end).toISOString() }]);
    },
    logger,
    now: Date.now,
  };
  const pacer = createPacer({ now: Date.now, random: Math.random, pause: setTimeout });
  return createWorker<TriggerJob>({
    access: queue,
    now: Date.now,
    random: Math.random,
    queue: 'trigger',
    concurrency,
    read: readTriggerJob,
    // The last try of a job must end in a record.
    process: (job, context) =>
      context.isLastTry ? processTrigger(job, context, ports) : pacer.run(job.pipeline, () => processTrigger(job, context, ports)),
  });
}

function originOf(host: string): string {
  return new URL(host.startsWith('http://') ? host : `https://${host}`).origin;
}
