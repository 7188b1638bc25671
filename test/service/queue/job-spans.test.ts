/** Traces of jobs on a real Redis: a job carries the trace of the span in which it was added, and its worker continues it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test, type TestContext } from 'node:test';
import { Queue } from 'bullmq';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import { createJobSpans } from '../../../src/service/queue/job-spans.ts';
import type { PolicyJob, PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue, createWorkQueues } from '../../../src/service/queue/producer.ts';
import { readPolicyJob, readPushJob } from '../../../src/service/queue/read-job.ts';
import { createTraceMemory } from '../../../src/service/queue/trace-memory.ts';
import { createWorker, type WorkerOptions } from '../../../src/service/queue/worker.ts';
import type { Tracing } from '../../../src/service/telemetry/tracing.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { openTraces } from '../../harness/traces.ts';

let redis: Redis;
before(async () => void (redis = await startRedis()));
after(() => redis.stop());

const event: PushEvent = {
  id: 'e1',
  receiver: 'harbor-prod',
  provider: 'harbor',
  repository: { registry: 'r.example.com', path: 'shop/web' },
  tag: '1.0.1',
  receivedAt: new Date().toISOString(),
};
const policyJob: PolicyJob = {
  schema: 1,
  policy: { namespace: 'shop', name: 'web', uid: 'uid-web' },
  source: 'TargetChange',
  cause: 'generation-1',
  receivedAt: event.receivedAt,
};
const rolloutJob: PolicyJob = { ...policyJob, cause: 'rollout-1', task: 'rollout' };

async function start(t: TestContext) {
  const connection = connectWorker(redis.url);
  t.after(() => connection.disconnect());
  const access = { redis: connection, prefix: `{${randomUUID()}}`, onError: () => undefined };
  const memory = createTraceMemory({ ...access, onError: assert.fail });
  /** Works until one job is done. */
  const work = async <T extends PushJob | PolicyJob>(
    options: Pick<WorkerOptions<T>, 'queue' | 'read' | 'inSpan'>,
    process: (job: T) => Promise<void> = () => Promise.resolve(),
  ) => {
    const done = Promise.withResolvers<T>();
    const worker = createWorker<T>({
      access,
      concurrency: 1,
      now: Date.now,
      random: Math.random,
      ...options,
      process: async (job) => {
        await process(job);
        done.resolve(job);
      },
    });
    worker.start();
    const job = await done.promise;
    await worker.stop(10_000);
    return job;
  };
  const workPolicy = (tracing: Tracing) =>
    work<PolicyJob>({ queue: 'policy', read: readPolicyJob, inSpan: createJobSpans(tracing, memory).policy });
  return { access, memory, work, workPolicy, pushes: createPushQueue(access, 0), queues: createWorkQueues(access, Date.now) };
}

test('a push is processed in the trace of its delivery, and each further job in the trace of the push', async (t) => {
  const { work, workPolicy, pushes, queues } = await start(t);
  const { tracing, finish } = await openTraces(t);
  const spans = createJobSpans(tracing, { recall: assert.fail });
  await tracing.span({ name: 'delivery' }, () => pushes.add([event]));
  await work<PushJob>({ queue: 'push', read: readPushJob, inSpan: spans.push }, () => queues.addPolicyJobs([policyJob]));
  await workPolicy(tracing);
  const ended = await finish();
  const byId = new Map(ended.map((span) => [span.spanId, span]));
  assert.deepEqual(
    ended.map(({ name, kind, parentId }) => `${byId.get(parentId)?.name ?? '-'} → ${name} (${kind})`),
    [
      'delivery → send push (producer)',
      '- → delivery (internal)',
      'process push → send policy (producer)',
      'send push → process push (consumer)',
      'send policy → process policy (consumer)',
    ],
  );
  const push = ended.find(({ name }) => name === 'process push');
  assert.deepEqual(push?.attributes, {
    'messaging.system': 'bullmq',
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'push',
    'messaging.message.id': 'e1',
    'image_watcher.failures': 0,
    'image_watcher.event': 'e1',
    'image_watcher.receiver': 'harbor-prod',
    'container.image.name': 'r.example.com/shop/web',
    'container.image.tags': ['1.0.1'],
  });
});

test('a job that was added outside of a span names no trace, and its worker begins one', async (t) => {
  const { access, work, pushes } = await start(t);
  const { tracing, finish } = await openTraces(t);
  await pushes.add([event]);
  const queue = new Queue<PushJob>('push', { connection: access.redis, prefix: access.prefix });
  const stored = await queue.getJob('e1');
  assert.deepEqual([stored?.data.id, stored?.data.traceparent], ['e1', undefined]);
  await work<PushJob>({ queue: 'push', read: readPushJob, inSpan: createJobSpans(tracing, { recall: assert.fail }).push });
  const [span, ...others] = await finish();
  assert.deepEqual([span?.name, span?.parentId, others], ['process push', '', []]);
});

test('a rollout check belongs to the trace of its change, whoever requested the check, and otherwise begins a new trace', async (t) => {
  const { memory, workPolicy, queues } = await start(t);
  const { tracing, finish } = await openTraces(t);
  await tracing.span({ name: 'somebody' }, () => queues.addPolicyJobs([rolloutJob]));
  assert.equal((await workPolicy(tracing)).traceparent, undefined);
  await tracing.span({ name: 'change' }, () => Promise.resolve(memory.remember('uid-web')));
  await queues.addPolicyJobs([{ ...rolloutJob, cause: 'rollout-2' }]);
  await workPolicy(tracing);
  const spans = await finish();
  const change = spans.find(({ name }) => name === 'change');
  assert.deepEqual(
    spans.filter(({ name }) => name === 'check rollout').map(({ parentId }) => parentId),
    ['', change?.spanId],
  );
});
