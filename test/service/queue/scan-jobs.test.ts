/** The reports of scans, in a real Redis, with a worker that is held up. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test, type TestContext } from 'node:test';
import { connectProducer, connectWorker } from '../../../src/service/queue/connection.ts';
import type { PollJob, ScanJob } from '../../../src/service/queue/jobs.ts';
import { openQueue, type TickJob } from '../../../src/service/queue/producer.ts';
import { readPollQueueJob } from '../../../src/service/queue/read-job.ts';
import { createScanJobs } from '../../../src/service/queue/scan-jobs.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

let redis: Redis;
before(async () => void (redis = await startRedis()));
after(() => redis.stop());

const now = () => new Date('2026-03-01T12:00:00.000Z');
const scan = (path = 'shop/web', digest = 'a') => ({
  receiver: 'prod',
  repository: { registry: 'harbor.example.com', path },
  digest: `sha256:${digest.repeat(64)}`,
  hasReport: true,
});

async function start(t: TestContext, minReplicas = 0) {
  const producer = connectProducer(redis.url);
  t.after(() => producer.disconnect());
  await waitFor('the connection', () => producer.status === 'ready');
  const access = { redis: producer, prefix: `{${randomUUID()}}`, onError: () => undefined };
  const queue = openQueue<PollJob | ScanJob | TickJob>('poll', access);
  const store = createScanJobs(access, { minReplicas, confirmWithinMs: 200, now });
  /** Starts a worker that holds its jobs until it is let go; the paths that it was given. */
  const work = async () => {
    const consumer = connectWorker(redis.url);
    const taken: string[] = [];
    const { promise: isFree, resolve: letGo } = Promise.withResolvers<void>();
    const worker = createWorker<PollJob | ScanJob | TickJob>({
      access: { ...access, redis: consumer },
      queue: 'poll',
      read: readPollQueueJob,
      concurrency: 8,
      now: Date.now,
      random: Math.random,
      async process(job) {
        taken.push('scanned' in job ? `${job.receiver} ${job.scanned.registry}/${job.scanned.path} ${job.receivedAt}` : 'another job');
        await isFree;
      },
    });
    t.after(async () => {
      letGo();
      await worker.stop(10_000);
      consumer.disconnect();
    });
    worker.start();
    return { taken, letGo };
  };
  return { producer, queue, store, work };
}

test('the scans of a repository are one job, which a worker gets as it was stored', async (t) => {
  const { queue, store, work } = await start(t);
  await store([scan('shop/web', 'a'), scan('shop/web', 'b'), scan('shop/api')]);
  await Promise.all([store([scan('shop/web', 'c')]), store([scan('shop/web', 'd')]), store([])]);
  assert.equal(await queue.getDelayedCount(), 2);
  const { taken, letGo } = await work();
  letGo();
  await waitFor('both', () => taken.length === 2);
  const at = now().toISOString();
  assert.deepEqual(taken.sort(), [`prod harbor.example.com/shop/api ${at}`, `prod harbor.example.com/shop/web ${at}`]);
  await waitFor('nothing to be left', async () => (await queue.getJobCountByTypes('delayed', 'active', 'completed', 'failed')) === 0);
});

test('a scan of a repository that is being processed gets a job of its own, so that its report is not missed', async (t) => {
  const { store, work } = await start(t);
  const { taken, letGo } = await work();
  await store([scan()]);
  await waitFor('the first', () => taken.length === 1);
  await store([scan('shop/web', 'b')]);
  await waitFor('the second', () => taken.length === 2);
  letGo();
});

test('a stored scan survives kill -9 of Redis, and a scan that may be lost is rejected', async (t) => {
  const { queue, store, producer } = await start(t);
  await store([scan()]);
  await redis.kill9();
  await redis.restart();
  await waitFor('the connection', () => producer.status === 'ready');
  assert.equal(await queue.getDelayedCount(), 1);
  const replicated = await start(t, 1);
  await assert.rejects(replicated.store([scan()]), /reached 0 of 1 Redis replicas/);
});
