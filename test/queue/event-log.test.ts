import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PushEvent } from '../../src/core/push-event.ts';
import { connectWorker } from '../../src/queue/connection.ts';
import { createEventLog } from '../../src/queue/event-log.ts';
import { startRedis } from '../harness/redis.ts';

test('pushes that nobody watches take no more room than the last thousand and some', { timeout: 60_000 }, async (t) => {
  const redis = await startRedis();
  const connection = connectWorker(redis.url);
  t.after(async () => {
    connection.disconnect();
    await redis.stop();
  });
  const log = createEventLog(connection, '{p}');
  const push = (index: number): PushEvent => ({
    id: `event-${index}`,
    receiver: 'prod',
    provider: 'harbor',
    repository: { registry: 'r.example.com', path: 'shop/web' },
    tag: '1.0.0',
    receivedAt: new Date(1_700_000_000_000 + index).toISOString(),
  });
  for (let start = 0; start < 3_000; start += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, index) => log.unwatched(push(start + index), new Date())));
  }
  const hashes = (await connection.keys('{p}:event:*')).length;
  assert.ok(hashes >= 1_000 && hashes <= 1_200, String(hashes));
  assert.equal(await connection.exists('{p}:event:event-2999'), 1);
  assert.equal(await connection.exists('{p}:event:event-0'), 0);
});
