import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as RedisClient } from 'ioredis';
import { createReportedNotices } from '../../../src/bases/record/reported-notices.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';

let server: Redis;
let redis: RedisClient;
before(async () => {
  server = await startRedis();
  redis = new RedisClient(server.url);
});
after(async () => {
  redis.disconnect();
  await server.stop();
});

test('a notice that one replica has reported is known to another one, for each version of the base, and expires', async () => {
  const [one, other] = [createReportedNotices({ redis, prefix: 'test' }), createReportedNotices({ redis, prefix: 'test' })];
  const scope = { uid: 'u1', base: `sha256:${'a'.repeat(64)}` };
  assert.deepEqual(await other.read(scope, ['a', 'b']), new Set());
  await one.add(scope, ['a', 'c']);
  assert.deepEqual(await other.read(scope, ['a', 'b', 'c']), new Set(['a', 'c']));
  assert.deepEqual(await other.read({ ...scope, base: `sha256:${'b'.repeat(64)}` }, ['a']), new Set());
  const keys = await redis.keys('test:*');
  assert.equal(keys.length, 1);
  assert.ok((await redis.ttl(keys[0] ?? '')) > 29 * 24 * 3_600);
});
