import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as Client } from 'ioredis';
import { monitorRedis } from '../../bench/world/redis-monitor.ts';
import { startRedis, type Redis } from '../harness/redis.ts';

let redis: Redis;
before(async () => void (redis = await startRedis()));
after(() => redis.stop());

test('the commands of a busy Redis are counted from the first to the last', { timeout: 120_000 }, async (t) => {
  const [writer, ...others] = Array.from({ length: 9 }, () => new Client(redis.url));
  assert.ok(writer);
  const ending = new AbortController();
  t.after(() => {
    ending.abort();
    for (const client of [writer, ...others]) client.disconnect();
  });
  const load = others.map(async (client) => {
    while (!ending.signal.aborted) await Promise.all(Array.from({ length: 50 }, () => client.incr('counter')));
  });
  for (let round = 0; round < 20; round++) {
    const { commands } = await monitorRedis(redis.url, async () => {
      await Promise.all(Array.from({ length: 100 }, (_, index) => writer.set(`key-${index}`, 'value')));
    });
    assert.equal(commands['set'], 100);
  }
  ending.abort();
  await Promise.all(load);
});

test('a transaction is one round trip, and its commands are counted', async (t) => {
  const client = new Client(redis.url);
  t.after(() => client.disconnect());
  await client.ping();
  const { commands, roundTrips } = await monitorRedis(redis.url, async () => {
    await client.multi().set('a', '1').set('b', '"2"\r\n').exec();
    await client.eval('return redis.call("GET", "a")', 0);
  });
  assert.deepEqual(
    { set: commands['set'], eval: commands['eval'], get: commands['get'], roundTrips },
    { set: 2, eval: 1, get: undefined, roundTrips: 2 },
  );
});
