import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Queue } from 'bullmq';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue } from '../../../src/service/queue/producer.ts';
import { readPushJob } from '../../../src/service/queue/read-job.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

async function start(t: TestContext, process: (job: PushJob) => void) {
  const redis = await startRedis();
  const connection = connectWorker(redis.url);
  const access = { redis: connection, prefix: '{kept}', onError: () => undefined };
  const queue = new Queue('push', { connection, prefix: access.prefix });
  const pushes = createPushQueue(access, 0);
  const worker = createWorker<PushJob>({
    access,
    queue: 'push',
    read: readPushJob,
    concurrency: 1,
    now: Date.now,
    random: Math.random,
    process: async (job) => process(job),
  });
  t.after(async () => {
    await worker.stop(5_000);
    connection.disconnect();
    await redis.stop();
  });
  worker.start();
  const event = { receiver: 'any', provider: 'generic', repository: { registry: 'r.example.com', path: 'shop/web' }, tag: '1.0.0' };
  const deliver = (id: string, receivedAt = new Date()) => pushes.add([{ id, ...event, receivedAt: receivedAt.toISOString() }]);
  return { queue, connection, deliver };
}

test('completed jobs are kept for an hour, so that a repeated delivery is recognised', async (t) => {
  const found: string[] = [];
  const { queue, connection, deliver } = await start(t, ({ id }) => void found.push(id));
  const completed = async () => (await queue.getCompleted()).map(({ id = '' }) => id).toSorted((a, b) => a.localeCompare(b));
  await deliver('one');
  await waitFor('one to be completed', async () => (await completed()).length === 1);
  await deliver('one');
  await deliver('two');
  await waitFor('two to be completed', async () => (await completed()).length === 2);
  assert.deepEqual(found, ['one', 'two']);
  await connection.zadd('{kept}:push:completed', Date.now() - 3_601_000, 'one');
  await deliver('three');
  await waitFor('three to be completed', async () => (await completed()).includes('three'));
  assert.deepEqual(await completed(), ['three', 'two']);
  await deliver('one');
  await waitFor('one to be done again', () => found.length === 4);
});

test('the last ten thousand failed jobs are kept', async (t) => {
  const { queue, connection, deliver } = await start(t, () => {
    throw new Error('for good');
  });
  const hourAgo = Date.now() - 3_600_000;
  const olderJobs = Array.from({ length: 10_000 }, (_, index) => [hourAgo + index, `older-${index}`]);
  await connection.zadd('{kept}:push:failed', ...olderJobs.flat());
  await deliver('newest', new Date(0));
  await waitFor('the newest to fail', async () => (await queue.getJobState('newest')) === 'failed');
  assert.equal(await queue.getFailedCount(), 10_000);
  assert.deepEqual(await connection.zrange('{kept}:push:failed', '0', '0'), ['older-1']);
});
