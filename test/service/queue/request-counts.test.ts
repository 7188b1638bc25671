import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectProducer, connectWorker } from '../../../src/service/queue/connection.ts';
import { createRequestCounts } from '../../../src/service/queue/shared-limits.ts';
import { createRateLimit } from '../../../src/service/receive/rate-limit.ts';
import { type Redis, startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

let redis: Redis;
before(async () => (redis = await startRedis()));
after(() => redis.stop());

const at = Date.parse('2026-03-01T12:00:15.000Z');

test('replicas share the request count of a receiver for each minute, and the count expires', async (t) => {
  const connections = [connectWorker(redis.url), connectWorker(redis.url)];
  t.after(() => connections.forEach((connection) => connection.disconnect()));
  for (const connection of connections) {
    connection.on('error', () => undefined);
    await waitFor('the connection', () => connection.status === 'ready');
  }
  const [firstReplica, secondReplica] = connections.map((connection) => createRequestCounts(connection, '{p}'));
  assert.ok(firstReplica && secondReplica);
  assert.deepEqual(
    [await firstReplica('a', 1, 2), await secondReplica('a', 1, 3), await firstReplica('b', 1, 1), await firstReplica('a', 2, 1)],
    [2, 5, 1, 1],
  );
  const [connection] = connections;
  assert.deepEqual((await connection?.keys('*'))?.sort(), ['{p}:requests:a:1', '{p}:requests:a:2', '{p}:requests:b:1']);
  assert.ok(Number(await connection?.pttl('{p}:requests:a:1')) > 0);

  const replicas = [firstReplica, secondReplica].map((addToCount) => createRateLimit({ addToCount, now: () => at, patienceMs: 60_000 }));
  let passed = 0;
  for (let request = 0; request < 20; request++) if ((await replicas[request % 2]?.count('c', 9)) === 0) passed++;
  assert.equal(passed, 9);
});

test('while Redis hangs or is down, each replica counts requests by itself and refuses only above the limit', async (t) => {
  const connection = connectProducer(redis.url);
  t.after(() => connection.disconnect());
  connection.on('error', () => undefined);
  await waitFor('the connection', () => connection.status === 'ready');
  const { count } = createRateLimit({ addToCount: createRequestCounts(connection, '{p}'), now: () => at });
  redis.freeze();
  assert.equal(await count('d', 10), 0);
  redis.thaw();
  await redis.stop();
  for (let request = 1; request < 10; request++) assert.equal(await count('d', 10), 0);
  assert.equal(await count('d', 10), 45);
});
