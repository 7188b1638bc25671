import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test, type TestContext } from 'node:test';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { connectProducer, connectWorker } from '../../../src/service/queue/connection.ts';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue } from '../../../src/service/queue/producer.ts';
import { readPushJob } from '../../../src/service/queue/read-job.ts';
import { createWorker, type JobContext } from '../../../src/service/queue/worker.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

let redis: Redis;
before(async () => void (redis = await startRedis()));
after(() => redis.stop());

const push = (id: string): PushEvent => ({
  id,
  receiver: 'any',
  provider: 'generic',
  repository: { registry: 'registry.example.com', path: 'shop/web' },
  tag: '1.0.0',
  receivedAt: new Date().toISOString(),
});

/** A queue and a worker. Jobs run until they are released. */
async function start(t: TestContext, queueUrl = redis.url, onError: (error: Error) => void = () => undefined) {
  const prefix = `{${randomUUID()}}`;
  const [producer, consumer] = [connectProducer(queueUrl), connectWorker(redis.url)];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const contexts = new Map<string, JobContext>();
  const worker = createWorker<PushJob>({
    access: { redis: consumer, prefix, onError },
    queue: 'push',
    read: readPushJob,
    concurrency: 8,
    now: Date.now,
    random: Math.random,
    async process({ id }, context) {
      const job = Promise.withResolvers<void>();
      contexts.set(id, context);
      running.set(id, job);
      await job.promise;
    },
  });
  t.after(async () => {
    for (const job of running.values()) job.resolve();
    await worker.stop(10_000);
    producer.disconnect();
    consumer.disconnect();
  });
  await waitFor('the connections', () => producer.status === 'ready' && consumer.status === 'ready');
  const queue = createPushQueue({ redis: producer, prefix, onError }, 0);
  /** Resolves when a worker blocks on Redis. */
  const waiting = () => waitFor('the worker to wait', async () => /cmd=bzpopmin/.test((await consumer.client('LIST')) as string));
  return { prefix, worker, queue, running, contexts, consumer, waiting };
}

test('a push is processed even if the worker that Redis has notified of it does not run any more', async (t) => {
  const { prefix, worker, queue, running, waiting } = await start(t);
  const frozen = connectWorker(redis.url);
  t.after(() => frozen.disconnect());
  await waitFor('the connection', () => frozen.status === 'ready');
  const called = frozen.bzpopmin(`${prefix}:push:marker`, 0);
  await waiting();
  worker.start();
  await queue.add([push('a')]);
  assert.notEqual(await called, null);
  await waitFor('the job to run', () => running.has('a'), { timeoutMs: 25_000 });
});

test('a worker that stops finishes its running jobs, and takes no more once it has stopped', async (t) => {
  const { prefix, worker, queue, running, consumer, waiting } = await start(t);
  worker.start();
  await waiting();
  await queue.add([push('a')]);
  await waitFor('the job to run', () => running.has('a'));
  const stopped = worker.stop(30_000);
  running.get('a')?.resolve();
  await stopped;
  assert.notEqual(await consumer.zscore(`${prefix}:push:completed`, 'a'), null);
  // Only now: a fetch that was under way when the worker was asked to stop may have taken one more.
  await queue.add([push('later')]);
  assert.equal(await consumer.llen(`${prefix}:push:active`), 0);
  assert.equal(running.has('later'), false);
});

test('a queue whose Redis dies reports the error, and stores pushes again when Redis is back', async (t) => {
  const own = await startRedis();
  const errors: Error[] = [];
  t.after(() => own.stop());
  const { queue } = await start(t, own.url, (error) => void errors.push(error));
  await own.kill9();
  await waitFor('the error', () => errors.length > 0);
  await assert.rejects(queue.add([push('a')]));
  await own.restart();
  await waitFor('the queue to store pushes', async () => (await queue.add([push('b')]).catch(() => [])).length === 1);
});

test('a worker knows whether a job is still its own', async (t) => {
  const { prefix, worker, queue, running, contexts, consumer } = await start(t);
  worker.start();
  await queue.add([push('a')]);
  await waitFor('the job to run', () => running.has('a'));
  assert.equal(await contexts.get('a')?.isOurs(), true);
  await consumer.set(`${prefix}:push:a:lock`, 'another worker');
  assert.equal(await contexts.get('a')?.isOurs(), false);
});
