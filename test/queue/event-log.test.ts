import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { PushEvent } from '../../src/model/push-event.ts';
import { connectWorker } from '../../src/queue/connection.ts';
import { createEventLog } from '../../src/queue/event-log.ts';
import { eventKeys, readHash } from '../../src/queue/event-record.ts';
import { forgetOldestRecords } from '../../src/queue/event-log.ts';
import { askRedis, startRedis } from '../harness/redis.ts';

const push = (index: number): PushEvent => ({
  id: `event-${index}`,
  receiver: 'prod',
  provider: 'harbor',
  repository: { registry: 'r.example.com', path: `shop/web-${index % 2}` },
  tag: '1.0.0',
  receivedAt: new Date(Date.now() + index).toISOString(),
});

async function start(t: TestContext) {
  const redis = await startRedis();
  const connection = connectWorker(redis.url);
  const full: string[] = [];
  t.after(async () => {
    connection.disconnect();
    await redis.stop();
  });
  return { redis, connection, full, log: createEventLog(connection, '{p}', ({ message }) => full.push(message)) };
}

test('the oldest records are deleted with their index entries, even in a full Redis', { timeout: 60_000 }, async (t) => {
  const { redis, connection, log, full } = await start(t);
  for (let index = 0; index < 10; index++) await log.matched(push(index), ['shop/web']);
  await connection.config('SET', 'maxmemory', '1');
  // A record that finds no room is left out: the push is done all the same.
  await log.matched(push(10), ['shop/web']);
  await log.unwatched(push(11), new Date());
  assert.deepEqual(
    full.map((message) => message.slice(0, 4)),
    ['OOM ', 'OOM '],
  );
  assert.equal(await forgetOldestRecords(connection, '{p}', 4), 4);
  assert.match(await askRedis(redis.port, 'KEYS *event-3'), /^\*0/);
  const left = await Promise.all(
    ['events', 'events:repository:r.example.com/shop/web-0'].map((key) => connection.zrange(`{p}:${key}`, '0', '-1')),
  );
  assert.deepEqual(
    left[0],
    [4, 5, 6, 7, 8, 9].map((index) => `event-${index}`),
  );
  assert.deepEqual(
    left[1],
    [4, 6, 8].map((index) => `event-${index}`),
  );
  assert.equal(await forgetOldestRecords(connection, '{p}', 1_000), 6);
  assert.deepEqual(await connection.keys('{p}:event*'), ['{p}:events:registries']);
});

test('unwatched pushes take no more space than about the last thousand', { timeout: 60_000 }, async (t) => {
  const { connection, log } = await start(t);
  for (let start = 0; start < 3_000; start += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, index) => log.unwatched(push(start + index), new Date())));
  }
  const hashes = (await connection.keys('{p}:event:*')).length;
  assert.ok(hashes >= 1_000 && hashes <= 1_200, String(hashes));
  assert.equal(await connection.exists('{p}:event:event-2999'), 1);
  assert.equal(await connection.exists('{p}:event:event-0'), 0);
});

test('the time at which an image was verified outlives the results that follow', { timeout: 60_000 }, async (t) => {
  const { connection, log } = await start(t);
  const event = push(0);
  const result = { kind: 'updated', reason: 'Updated', message: '', at: event.receivedAt } as const;
  await log.recordResult(event.id, 'shop/web', { ...result, afterMs: 500, verifiedMs: 300 }, event);
  await log.recordResult(event.id, 'shop/web', { ...result, afterMs: 9_000 });
  const { hash } = eventKeys('{p}');
  const record = readHash(await connection.hgetall(hash(event.id)));
  const found = record?.state === 'matched' ? record.results.get('shop/web') : undefined;
  assert.deepEqual([found?.afterMs, found?.verifiedMs], [9_000, 300]);
});

test('the results of a burst are written together, and later ones replace earlier ones', { timeout: 60_000 }, async (t) => {
  const { redis, connection, log } = await start(t);
  const calls = async () => Number(/cmdstat_eval:calls=(\d+)/.exec(await askRedis(redis.port, 'INFO commandstats'))?.[1] ?? 0);
  const pushes = Array.from({ length: 100 }, (_, index) => push(index));
  const replay: PushEvent = { ...push(100), repository: { registry: 'other.example.com', path: 'shop/web' }, replayOf: 'event-0' };
  const result = { kind: 'updated', reason: 'Updated', message: '', at: replay.receivedAt, afterMs: 500 } as const;
  await Promise.all([
    ...[...pushes, replay].map((event) => log.recordResult(event.id, 'shop/web', result, event)),
    log.recordResult('event-0', 'shop/web', { ...result, reason: 'Retrying' }),
    log.recordResult('event-0', 'shop/web', { ...result, verifiedMs: 7 }),
  ]);
  assert.equal(await calls(), 1);
  const { hash, byTime, byRepository, announcements } = eventKeys('{p}');
  assert.deepEqual(
    await connection.zrange(byTime, '0', '-1'),
    [...pushes, replay].map(({ id }) => id),
  );
  assert.equal(await connection.zcard(byRepository('r.example.com/shop/web-1')), 50);
  assert.equal(await connection.zcard(byRepository('other.example.com/shop/web')), 1);
  // A replay does not prove that webhooks of its registry arrive.
  const latest = String(Date.parse(pushes.at(-1)?.receivedAt ?? ''));
  assert.deepEqual(await connection.zrange(announcements, '0', '-1', 'WITHSCORES'), ['r.example.com', latest]);
  const record = readHash(await connection.hgetall(hash('event-0')));
  assert.ok(record?.state === 'matched');
  assert.deepEqual(record.results.get('shop/web'), { ...result, verifiedMs: 7 });
  for (const key of [hash('event-42'), byTime, byRepository('r.example.com/shop/web-0'), announcements])
    assert.ok((await connection.ttl(key)) > 600_000, key);
});

test('a push that concerns thousands of policies is written in parts', { timeout: 60_000 }, async (t) => {
  const { connection, log } = await start(t);
  const policies = Array.from({ length: 15_000 }, (_, index) => `shop/web-${index}`);
  const event = push(0);
  await log.matched(event, policies);
  const result = { kind: 'ignored', reason: 'NoMatchingTag', message: '', at: event.receivedAt, afterMs: 500, verifiedMs: 300 } as const;
  await Promise.all(policies.map((policy) => log.recordResult(event.id, policy, result)));
  const record = readHash(await connection.hgetall(eventKeys('{p}').hash(event.id)));
  assert.ok(record?.state === 'matched');
  assert.equal([...record.results.values()].filter((found) => found?.reason === 'NoMatchingTag').length, policies.length);
});
