import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as Connection } from 'ioredis';
import { createTraceMemory } from '../../../src/service/queue/trace-memory.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';

let server: Redis;
let redis: Connection;
before(async () => {
  server = await startRedis();
  redis = new Connection(server.url);
});
after(async () => {
  redis.disconnect();
  await server.stop();
});

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('the trace of the newest change of a policy is available to all replicas, and expires after a day', async () => {
  const [writer, reader] = [createTraceMemory(redis, '{iw}'), createTraceMemory(redis, '{iw}')];
  await writer.remember('a', { traceparent: traceparent.replace('-01', '-00'), at: 1 });
  await writer.remember('a', { traceparent, at: 1_763_700_000_123 });
  assert.deepEqual(await reader.recall('a'), { traceparent, at: 1_763_700_000_123 });
  assert.equal(await reader.recall('b'), undefined);
  const life = await redis.ttl('{iw}:trace:a');
  assert.ok(life > 0 && life <= 86_400);
});
