import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as Connection } from 'ioredis';
import { createTraceMemory } from '../../../src/service/queue/trace-memory.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { openTraces } from '../../harness/traces.ts';
import { waitFor } from '../../harness/wait-for.ts';

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

test('the trace of the newest change of a policy is available to all replicas, and expires after a day', async (t) => {
  const { tracing } = await openTraces(t);
  const access = { redis, prefix: '{iw}', onError: assert.fail };
  const [writer, reader] = [createTraceMemory(access), createTraceMemory(access)];
  const change = () =>
    tracing.span({ name: 'change' }, async ({ traceparent }) => {
      writer.remember('a');
      return traceparent;
    });
  const before = Date.now();
  await change();
  const newest = await change();
  writer.remember('a');
  const found = await waitFor('the newest change', async () => {
    const stored = await reader.recall('a');
    return stored?.traceparent === newest && stored;
  });
  assert.ok(found.at >= before && found.at <= Date.now());
  assert.equal(await reader.recall('b'), undefined);
  const life = await redis.ttl('{iw}:trace:a');
  assert.ok(life > 0 && life <= 86_400);
});

test('an invalid trace in Redis is not used, and without Redis no trace is known', async () => {
  await redis.set('{iw}:trace:forged', 'nonsense 1763700000123');
  assert.equal(await createTraceMemory({ redis, prefix: '{iw}', onError: assert.fail }).recall('forged'), undefined);
  const gone = new Connection(server.url, { lazyConnect: true, enableOfflineQueue: false });
  const errors: unknown[] = [];
  assert.equal(await createTraceMemory({ redis: gone, prefix: '{iw}', onError: (error) => errors.push(error) }).recall('a'), undefined);
  assert.equal(errors.length, 1);
  gone.disconnect();
});
