import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queue } from 'bullmq';
import { connectWorker } from '../../src/queue/connection.ts';
import type { PushJob } from '../../src/queue/jobs.ts';
import { createPushQueue } from '../../src/queue/producer.ts';
import { createWorker } from '../../src/queue/worker.ts';
import { startRedis } from '../harness/redis.ts';
import { waitFor } from '../harness/wait-for.ts';

test('completed jobs are kept for an hour: a delivery that is repeated within is known', async (t) => {
  const redis = await startRedis();
  const connection = connectWorker(redis.url);
  const access = { redis: connection, prefix: '{kept}', onError: () => undefined };
  const queue = new Queue('push', { connection, prefix: access.prefix });
  const pushes = createPushQueue(access, 0);
  const found: string[] = [];
  const worker = createWorker<PushJob>({
    access,
    queue: 'push',
    concurrency: 1,
    now: Date.now,
    random: Math.random,
    process: ({ id }) => Promise.resolve(void found.push(id)),
  });
  t.after(async () => {
    await worker.stop(5_000);
    connection.disconnect();
    await redis.stop();
  });
  worker.start();
  const event = { receiver: 'any', provider: 'generic', repository: { registry: 'r.example.com', path: 'shop/web' }, tag: '1.0.0' };
  const deliver = (id: string) => pushes.add([{ id, ...event, receivedAt: new Date().toISOString() }]);
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
