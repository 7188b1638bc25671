import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Queue } from 'bullmq';
import { connectWorker, type RedisConnection } from '../../src/queue/connection.ts';
import { createWaitingReader } from '../../src/queue/oldest-waiting.ts';
import { startRedis, type Redis } from '../harness/redis.ts';

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

const none = { push: 0, policy: 0, poll: 0, base: 0, trigger: 0, notice: 0 };

test('reports since when the next job of each queue has been waiting', async () => {
  const prefix = '{waiting}';
  let now = 1_000_000;
  const read = createWaitingReader({ redis: connection, prefix, now: () => now });
  assert.deepEqual(await read(), none);

  const queue = new Queue('push', { connection, prefix, skipVersionCheck: true });
  await queue.add('push', {}, { jobId: 'first', timestamp: 990_000 });
  await queue.add('push', {}, { jobId: 'second', timestamp: 999_000 });
  assert.deepEqual(await read(), { ...none, push: 10 });

  // What a worker has had before, and what was put off, counts from when it is seen to wait.
  await connection.hset(`${prefix}:push:first`, 'ats', 1);
  assert.deepEqual(await read(), none);
  await connection.lrem(`${prefix}:push:wait`, 1, 'first');
  assert.deepEqual(await read(), { ...none, push: 1 });
  await connection.lpush(`${prefix}:push:wait`, 'first');
  await connection.lrem(`${prefix}:push:wait`, 1, 'second');
  assert.deepEqual(await read(), none);
  now += 7_000;
  assert.deepEqual(await read(), { ...none, push: 7 });

  await connection.del(`${prefix}:push:wait`);
  assert.deepEqual(await read(), none);
  await queue.close();
});
