/** The part of the role `work` that requests rebuilds from CI systems. */
import { setTimeout } from 'node:timers/promises';
import type { BaseImagePolicy } from '../core/model/base-policy.ts';
import { readLine } from '../core/model/image-source.ts';
import { PermanentError } from '../core/model/errors.ts';
import type { TriggerJob } from '../service/queue/jobs.ts';
import type { QueueAccess, WorkQueues } from '../service/queue/producer.ts';
import { readTriggerJob } from '../service/queue/read-job.ts';
import { createRebuildRecords } from '../service/queue/rebuild-records.ts';
import type { ReadSecret } from '../service/registry/credentials/secret-offer.ts';
import { createWorker, type QueueWorker } from '../service/queue/worker.ts';
import { createPacer } from './triggers/pace.ts';
import { processTrigger, type TriggerPorts } from './triggers/process-trigger.ts';
import { sendRequest } from './triggers/send-request.ts';
import { reportJob } from './rebuild-jobs.ts';
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
const publicHosts = ['api.github.com', 'gitlab.com'];

/** The worker that sends requests of rebuilds to CI systems. */
export function createTriggerWorker(
  { settings, logger, outbound: { fetch } }: Foundation,
  { queue, queues, findPolicy, isAsPlanned, readSecret }: TriggerMeans,
): QueueWorker {
  const allowed = new Set([...publicHosts, ...settings.config.triggers.hosts].map(originOf));
  const ports: TriggerPorts = {
    findPolicy,
    isAsPlanned,
    readSecret: keyReader(readSecret),
    mayCall: (url) => allowed.has(url.origin),
    send: (request, signal) => sendRequest(request, { fetch, now: Date.now, signal }),
    records: createRebuildRecords(queue.redis, queue.prefix),
    onRecorded: (policy) => queues.addBaseJobs([reportJob(policy, Date.now())]),
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

/** Creates the reader of the keys of Secrets, which has none that is empty. */
export function keyReader(readSecret: ReadSecret): TriggerPorts['readSecret'] {
  return async ({ namespace, name, key }, options) => {
    const found = readLine(await readSecret({ namespace, name }, options), key);
    if ('why' in found) throw new PermanentError('RebuildRefused', `Secret ${namespace}/${name} ${found.why}`);
    return found.line;
  };
}

function originOf(host: string): string {
  return new URL(host.startsWith('http://') ? host : `https://${host}`).origin;
}
