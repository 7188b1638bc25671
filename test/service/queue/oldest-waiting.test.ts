import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Queue, Worker } from 'bullmq';
import { connectWorker, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { createWaitingReader } from '../../../src/service/queue/oldest-waiting.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';

let redis: Redis;
let connection: RedisConnection;
before(async () => {
  redis = await startRedis();
  connection = connectWorker(redis.url);
});
after(async () => {
  connection.disconnect();
  await redis.stop();
});

const none = { push: 0, policy: 0, poll: 0, base: 0, trigger: 0, notice: 0, check: 0 };

test('each queue reports since when its next job has been waiting', async () => {
  const options = { connection, prefix: '{waiting}', skipVersionCheck: true };
  let now = 1_000_000;
  const read = createWaitingReader({ redis: connection, prefix: options.prefix, onError: assert.ifError }, () => now);
  assert.deepEqual(await read(), none);

  const queue = new Queue('push', options);
  await queue.add('push', {}, { jobId: 'first', timestamp: 990_000 });
  await queue.add('push', {}, { jobId: 'second', timestamp: 999_000 });
  assert.deepEqual(await read(), { ...none, push: 10 });

  const worker = new Worker('push', null, options);
  const first = await worker.getNextJob('a worker', { block: false });
  assert.equal(first?.id, 'first');
  assert.deepEqual(await read(), { ...none, push: 1 });

  // What a worker has had before, and what was put off, counts from when it is seen to wait.
  await first.moveToWait('a worker');
  await queue.remove('second');
  assert.deepEqual(await read(), none);
  now += 7_000;
  assert.deepEqual(await read(), { ...none, push: 7 });

  await queue.add('push', {}, { jobId: 'third', timestamp: 1_006_000, delay: 60_000 });
  await (await queue.getJob('third'))?.promote();
  await queue.remove('first');
  assert.deepEqual(await read(), none);
  now += 2_000;
  assert.deepEqual(await read(), { ...none, push: 2 });

  await queue.remove('third');
  assert.deepEqual(await read(), none);
  await Promise.all([worker.close(), queue.close()]);
});
