/** The outbox of the durable record in a real Redis: what goes into it, and how it is bounded. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { runTogether } from '../../../src/service/queue/commands.ts';
import { connectWorker, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { createEventLog, type PolicyResult } from '../../../src/service/queue/event-log.ts';
import { createOutbox, readOutboxState } from '../../../src/service/queue/outbox.ts';
import { outboxFunctions, outboxKeys } from '../../../src/service/queue/outbox-functions.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';

let redis: Redis;
let connection: RedisConnection;
before(async () => {
  redis = await startRedis();
  connection = connectWorker(redis.url);
});
after(async () => {
  connection.disconnect();
  await redis.stop();
});

const push = (id: string): PushEvent => ({
  id,
  receiver: 'prod',
  provider: 'harbor',
  repository: { registry: 'r.example.com', path: 'shop/web' },
  tag: '1.0.0',
  receivedAt: '2026-11-28T12:00:00.000Z',
});
const result = (kind: PolicyResult['kind']): PolicyResult => ({ kind, reason: 'Updated', message: 'done', at: '2026-11-28T12:00:01.000Z' });
const pushesIn = async (prefix: string) =>
  (await createOutbox(connection, prefix).read(100)).map((entry) => ('push' in entry ? entry.push : '?'));

test('a push is put into the outbox when its result is final, once for all its results', async () => {
  const prefix = '{p}';
  const log = createEventLog({ redis: connection, prefix, isKept: true }, assert.fail);
  await log.matched(push('one'), ['shop/web', 'shop/api']);
  await log.recordResult('one', 'shop/web', result('retrying'));
  assert.deepEqual(await pushesIn(prefix), []);
  await log.recordResult('one', 'shop/web', result('updated'));
  await log.recordResult('two', 'shop/web', result('unchanged'), push('two'));
  await Promise.all(['shop/api', 'shop/web'].map((name) => log.recordResult('one', name, result('failed'))));
  assert.deepEqual(await pushesIn(prefix), ['two', 'one']);
});

test('without a configured record, no push is put into the outbox', async () => {
  const log = createEventLog({ redis: connection, prefix: '{off}' }, assert.fail);
  await log.recordResult('one', 'shop/web', result('updated'), push('one'));
  assert.deepEqual(await readOutboxState(connection, '{off}'), { waiting: 0 });
});

test('a full outbox drops the oldest entries, and counts every one of them', async () => {
  const prefix = '{full}';
  const keys = outboxKeys(prefix);
  const add = Array.from({ length: 1_000 }, (_, index) => ['OUTBOX', keys.stream, 250, 'push', `p${index}`]);
  await runTogether(connection, [keys.stream, keys.lost], add, outboxFunctions);
  const entries = await createOutbox(connection, prefix).read(2_000);
  const lost = entries.flatMap((entry) => ('lost' in entry ? entry.lost : []));
  const kept = entries.flatMap((entry) => ('push' in entry ? entry.push : []));
  assert.ok(kept.length >= 250 && kept.length < 400, String(kept.length));
  assert.deepEqual([lost, kept.at(-1)], [[1_000 - kept.length], 'p999']);
});

test('one replica at a time has the lease of the outbox, until it is released or has expired', async () => {
  const [one, two] = [createOutbox(connection, '{l}'), createOutbox(connection, '{l}')];
  assert.deepEqual([await one.take('1', 60_000), await two.take('2', 60_000)], [true, false]);
  await two.release('2');
  assert.equal(await two.take('2', 60_000), false);
  await one.release('1');
  assert.equal(await two.take('2', 60_000), true);
});

test('a late commit does not set the tail of the record back, and a problem is shown until it is over', async () => {
  const outbox = createOutbox(connection, '{t}');
  const tail = (segment: number) => ({ segment, sequence: segment * 10, hash: String(segment).repeat(64) });
  assert.equal(await outbox.tail(), undefined);
  for (const segment of [2, 1]) await outbox.commit(tail(segment), []);
  assert.deepEqual(await outbox.tail(), tail(2));
  await outbox.noteProblem('no space left');
  assert.equal((await readOutboxState(connection, '{t}')).problem, 'no space left');
  await outbox.noteProblem(undefined);
  assert.deepEqual(await readOutboxState(connection, '{t}'), { waiting: 0 });
});
