/** What has changed in the records since they were last read, in a real Redis. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { createTurns } from '../../../src/core/async/turns.ts';
import { createActivityWriter, createNewActivities } from '../../../src/service/queue/activity-stream.ts';
import { createChangedEvents } from '../../../src/service/queue/changed-events.ts';
import { connectProducer, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { createEventLog } from '../../../src/service/queue/event-log.ts';
import { createIgnoredLog } from '../../../src/service/queue/ignored-log.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

let redis: Redis;
let connection: RedisConnection;
before(async () => {
  redis = await startRedis();
  connection = connectProducer(redis.url);
  connection.on('error', () => undefined);
  await waitFor('the connection', () => connection.ping());
});
after(async () => {
  connection.disconnect();
  await redis.stop();
});

const eventOf = (id: string): PushEvent => ({
  id,
  receiver: 'prod',
  provider: 'harbor',
  repository: { registry: 'r.example.com', path: 'shop/web' },
  tag: '1.0.0',
  receivedAt: new Date().toISOString(),
});

test('a changed push is found when it is new, and when one of its results changes', async () => {
  const prefix = '{changed}';
  const changed = createChangedEvents(connection, prefix, createTurns());
  const log = createEventLog({ redis: connection, prefix }, assert.fail);
  const found = async () => (await changed()).map(({ event: { id } }) => id).toSorted();
  assert.deepEqual(await found(), []);
  await log.matched(eventOf('a'), ['shop/web']);
  await log.unwatched(eventOf('b'), new Date());
  assert.deepEqual(await found(), ['a', 'b']);
  assert.deepEqual(await found(), []);
  const result = { at: new Date().toISOString(), reason: 'Updated', message: '' } as const;
  await log.recordResult('a', 'shop/web', { ...result, kind: 'retrying' });
  assert.deepEqual(await found(), ['a']);
  await log.recordResult('a', 'shop/web', { ...result, kind: 'updated' });
  assert.deepEqual(await found(), ['a']);
  assert.deepEqual(await found(), []);
});

test('an ignored push is found as changed again when it is ignored again', async () => {
  const prefix = '{ignored}';
  const changed = createChangedEvents(connection, prefix, createTurns());
  const log = createIgnoredLog({
    redis: connection,
    prefix,
    aliases: new Map(),
    canWrite: () => true,
    onDropped: () => assert.fail('dropped'),
    flushMs: 1,
  });
  const ignore = () =>
    log.add({ receiver: 'prod', provider: 'harbor', ignored: [{ code: 'NoTag', reason: 'pushed by digest' }], receivedAt: new Date() });
  for (const times of [1, 2]) {
    ignore();
    await waitFor(`${times} times`, async () => {
      const [found] = await changed();
      return found?.state === 'ignored' && found.event.count === times;
    });
  }
  await log.stop();
});

test('a push for thousands of policies is read again only when a result is added', async () => {
  const prefix = '{large}';
  const changed = createChangedEvents(connection, prefix, createTurns());
  const log = createEventLog({ redis: connection, prefix }, assert.fail);
  const policies = Array.from({ length: 300 }, (_, index) => `shop/web-${index}`);
  const result = { at: new Date().toISOString(), kind: 'retrying', reason: 'Updated', message: '' } as const;
  await log.matched(eventOf('a'), policies);
  await Promise.all(policies.map((policy) => log.recordResult('a', policy, result)));
  assert.equal((await changed()).length, 1);
  await log.recordResult('a', 'shop/web-0', { ...result, kind: 'updated' });
  assert.equal((await changed()).length, 0);
  await log.recordResult('a', 'shop/other', result);
  assert.equal((await changed()).length, 1);
});

test('new activities are found once, in their order, a bounded number at a time', async () => {
  const prefix = '{new}';
  const write = createActivityWriter({ redis: connection, prefix }, Date.now);
  const add = async (...names: string[]) => {
    for (const name of names)
      await write({
        id: name,
        activity: { type: 'action', at: new Date().toISOString(), action: 'approve', subject: { kind: 'Push', name } },
      });
  };
  await add('a', 'b', 'c');
  const read = createNewActivities(connection, prefix, 2);
  const found = async () => (await read()).map(({ subject }) => subject.name);
  assert.deepEqual(await found(), ['b', 'c']);
  assert.deepEqual(await found(), []);
  await add('d', 'e', 'f');
  assert.deepEqual(await found(), ['d', 'e']);
  assert.deepEqual(await found(), ['f']);
  const empty = createNewActivities(connection, '{empty}');
  assert.deepEqual(await empty(), []);
});
