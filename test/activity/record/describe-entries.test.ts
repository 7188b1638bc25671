/** What the record has of pushes, as they are in a real Redis. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDescriber } from '../../../src/activity/record/describe-entries.ts';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { activityEntry } from '../../../src/service/api/activity-view.ts';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import { createEventLog, type PolicyResult } from '../../../src/service/queue/event-log.ts';
import { createOutbox } from '../../../src/service/queue/outbox.ts';
import { createEventReader } from '../../../src/service/queue/read-events.ts';
import { startRedis } from '../../harness/redis.ts';

const push = (id: string): PushEvent => ({
  id,
  receiver: 'prod',
  provider: 'harbor',
  repository: { registry: 'r.example.com', path: 'shop/web' },
  tag: '1.0.0',
  receivedAt: '2026-11-28T12:00:00.000Z',
});
const resultOf = (kind: PolicyResult['kind'], message = 'done'): PolicyResult => ({
  kind,
  reason: 'Updated',
  message,
  at: '2026-11-28T12:00:01.000Z',
});
const prefix = '{p}';

test('an entry about a push names its policies with their outcomes, as many as fit', async (t) => {
  const redis = await startRedis();
  const connection = connectWorker(redis.url);
  t.after(async () => {
    connection.disconnect();
    await redis.stop();
  });
  const log = createEventLog({ redis: connection, prefix, isKept: true }, assert.fail);
  const names = Array.from({ length: 700 }, (_, index) => `shop/web-${index}`);
  await log.matched(push('small'), ['shop/web', 'shop/api']);
  await log.recordResult('small', 'shop/web', resultOf('updated'));
  await log.matched(push('large'), names);
  for (const name of names) await log.recordResult('large', name, resultOf('updated', 'x'.repeat(1_000)));
  await log.recordResult('gone', 'shop/web', resultOf('updated'));
  const describe = createDescriber(createEventReader({ redis: connection, prefix, onError: assert.fail }).get);
  const facts = await describe(await createOutbox(connection, prefix).read(100));
  assert.deepEqual(
    facts.map(({ type, subject, time }) => [type, subject, Date.parse(time) > Date.parse('2026-11-28')]),
    [
      ['push', 'Push/small', true],
      ['push', 'Push/large', true],
      ['lost', 'Push/gone', true],
    ],
  );
  const [small, large] = facts.slice(0, 2).map(({ id, data }) => ({ data, entry: activityEntry.parse({ ...data, id }) }));
  assert.deepEqual(small?.entry.type === 'push' && small.entry.push.policies.map(({ name, outcome }) => [name, outcome]), [
    ['web', 'updated'],
    ['api', 'working'],
  ]);
  assert.ok(large?.entry.type === 'push');
  assert.ok(large.entry.push.policies.length > 300 && large.entry.push.policies.length < 700);
  assert.deepEqual([small && 'hasMore' in small.data, 'hasMore' in large.data], [false, true]);
  // A segment is not filled without end: what has no room is described for the next one.
  const huge = await describe(Array.from({ length: 100 }, (_, index) => ({ id: `1-${index}`, push: 'large' })));
  assert.ok(huge.length > 5 && huge.length < 15, String(huge.length));
});
