import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { runTogether } from '../../../src/service/queue/commands.ts';
import { startRedis } from '../../harness/redis.ts';

let server: Awaited<ReturnType<typeof startRedis>>;
let redis: Redis;
before(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
after(async () => {
  redis.disconnect();
  await server.stop();
});

test('commands to Redis run in order, whatever bytes they contain', async () => {
  const strange = 'ü "quoted"\n\u0000 €';
  await runTogether(
    redis,
    ['hash', 'list'],
    [
      ['HSET', 'hash', 'a', strange, 'b', 2],
      ['RPUSH', 'list', 'first'],
      ['RPUSH', 'list', 'second'],
    ],
  );
  assert.deepEqual(await redis.hgetall('hash'), { a: strange, b: '2' });
  assert.deepEqual(await redis.lrange('list', 0, -1), ['first', 'second']);
});

test('an error that Redis answers is reported', async () => {
  await redis.set('text', 'no list');
  await assert.rejects(runTogether(redis, ['text'], [['RPUSH', 'text', 'x']]), /WRONGTYPE/);
});
