import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import { createEventLog, type PolicyResult } from '../../../src/service/queue/event-log.ts';
import { eventKeys, readHash } from '../../../src/service/queue/event-record.ts';
import { forgetOldestRecords } from '../../../src/service/queue/event-log.ts';
import { askRedis, startRedis } from '../../harness/redis.ts';

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
  return { redis, connection, full, log: createEventLog({ redis: connection, prefix: '{p}' }, ({ message }) => full.push(message)) };
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

test('an unwatched push that matches a policy later is kept as long as any other', { timeout: 60_000 }, async (t) => {
  const { connection, log } = await start(t);
  const { hash, unwatched } = eventKeys('{p}');
  for (const index of [0, 1, 2]) await log.unwatched(push(index), new Date());
  await log.matched(push(0), ['shop/web']);
  await log.recordResult(
    push(1).id,
    'shop/web',
    { kind: 'unchanged', reason: 'UpToDate', message: '', at: '2026-03-01T12:00:00Z' },
    push(1),
  );
  assert.deepEqual(await connection.zrange(unwatched, '0', '-1'), ['event-2']);
  assert.equal(readHash(await connection.hgetall(hash('event-0')))?.state, 'matched');
});

test('a push that is matched again keeps what it was matched with before, also where no policy is left', { timeout: 60_000 }, async (t) => {
  const { connection, log } = await start(t);
  const { hash, unwatched } = eventKeys('{p}');
  const result = { kind: 'updated', reason: 'Updated', message: '', at: '2026-03-01T12:00:00Z' } as const;
  await log.recordResult(push(0).id, 'shop/web', result, push(0));
  await log.matched(push(0), ['shop/late', 'shop/web']);
  await log.unwatched(push(0), new Date());
  const record = readHash(await connection.hgetall(hash('event-0')));
  assert.equal(record?.state, 'matched');
  assert.deepEqual(record && 'results' in record && [...record.results].map(([name, one]) => [name, one?.kind]), [
    ['shop/web', 'updated'],
    ['shop/late', undefined],
  ]);
  assert.equal(await connection.zcard(unwatched), 0);
});

test('the policies of a push without a final result are listed', { timeout: 60_000 }, async (t) => {
  const { log } = await start(t);
  const of = (kind: PolicyResult['kind']) => ({ kind, reason: 'Retrying', message: '', at: '2026-03-01T12:00:00Z' }) as const;
  await log.matched(push(0), ['shop/a', 'shop/b', 'shop/c']);
  await log.recordResult(push(0).id, 'shop/a', of('retrying'));
  await log.recordResult(push(0).id, 'shop/b', of('unchanged'));
  assert.deepEqual(await log.unfinished(push(0).id), ['shop/a', 'shop/c']);
  assert.deepEqual(await log.unfinished('unknown'), []);
});

test('the times at which an image was verified and changed outlive the results that follow', { timeout: 60_000 }, async (t) => {
  const { connection, log } = await start(t);
  const event = push(0);
  const result = { kind: 'updated', reason: 'Updated', message: '', at: event.receivedAt } as const;
  await log.recordResult(event.id, 'shop/web', { ...result, afterMs: 500, verifiedMs: 300 }, event);
  await log.recordResult(event.id, 'shop/web', { ...result, afterMs: 9_000, verifiedMs: 8_000 });
  const { hash } = eventKeys('{p}');
  const record = readHash(await connection.hgetall(hash(event.id)));
  const found = record?.state === 'matched' ? record.results.get('shop/web') : undefined;
  assert.deepEqual([found?.afterMs, found?.verifiedMs], [500, 300]);
});

test('a final result of a policy is replaced only by a higher one', { timeout: 60_000 }, async (t) => {
  const { connection, log } = await start(t);
  const event = push(0);
  const change = (container: string) => ({
    workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
    container,
    index: 0,
    from: 'web:1',
    to: 'web:2',
  });
  const of = (kind: PolicyResult['kind'], afterMs: number, more: Partial<PolicyResult> = {}): PolicyResult => ({
    kind,
    reason: 'UpToDate',
    message: `after ${afterMs}`,
    at: new Date(afterMs).toISOString(),
    afterMs,
    ...more,
  });
  const one = { changes: [change('one')] };
  const two = { changes: [change('one'), change('two')] };
  const rollout = { stage: 'rollout' } as const;
  const guard = { stage: 'guard' } as const;
  const replaced = { stage: 'replaced' } as const;
  const waves = { stage: 'waves' } as const;
  /** Results in the order in which they are recorded; the time and the message of the one that is shown. */
  const rows: readonly [name: string, results: PolicyResult[], shown: [PolicyResult['kind'], afterMs: number, message: string]][] = [
    ['tries until one ends', [of('retrying', 1), of('waiting', 2), of('retrying', 3), of('unchanged', 4)], ['unchanged', 4, 'after 4']],
    ['a late failure of another try', [of('unchanged', 1), of('retrying', 2), of('waiting', 3)], ['unchanged', 1, 'after 1']],
    ['a wait of a guard, then a late failure', [of('waiting', 1, guard), of('retrying', 2), of('waiting', 3)], ['waiting', 1, 'after 1']],
    ['a wait of a guard, then another one', [of('waiting', 1, guard), of('waiting', 2, guard)], ['waiting', 2, 'after 2']],
    ['a wait of a guard that is over', [of('waiting', 1, guard), of('updated', 2, one)], ['updated', 2, 'after 2']],
    ['a change, then nothing to do', [of('updated', 1, one), of('unchanged', 2)], ['updated', 1, 'after 1']],
    ['a change, then a user who must act', [of('updated', 1, one), of('stalled', 2), of('failed', 3)], ['updated', 1, 'after 1']],
    ['nothing to do, then a change that is found', [of('unchanged', 1), of('updated', 2, one)], ['updated', 2, 'after 2']],
    ['two final ones of the same rank', [of('ignored', 1), of('unchanged', 2)], ['ignored', 1, 'after 1']],
    ['a suspended policy, then what it finds', [of('suspended', 1), of('unchanged', 2)], ['unchanged', 2, 'after 2']],
    ['an approval to come, then another image', [of('unchanged', 1, guard), of('ignored', 2)], ['ignored', 2, 'after 2']],
    ['nothing to do, then another image', [of('unchanged', 1), of('ignored', 2)], ['unchanged', 1, 'after 1']],
    ['a change, then a wait of another workload', [of('updated', 1, one), of('unchanged', 2, guard)], ['updated', 1, 'after 1']],
    ['a change that another image replaces', [of('updated', 1, one), of('updated', 2, replaced)], ['updated', 2, 'after 2']],
    ['a rollout that is over, then another image', [of('updated', 1, rollout), of('updated', 2, replaced)], ['updated', 1, 'after 1']],
    ['waves that end early, then a rollout that is over', [of('updated', 1, waves), of('updated', 2, rollout)], ['updated', 1, 'after 1']],
    ['more changes than the first has seen', [of('updated', 1, one), of('updated', 2, two)], ['updated', 1, 'after 2']],
    ['fewer changes', [of('updated', 1, two), of('updated', 2, one)], ['updated', 1, 'after 1']],
    ['a rollout that fails', [of('updated', 1, one), of('stalled', 2, rollout)], ['stalled', 2, 'after 2']],
    ['a try that goes on after that', [of('stalled', 1, rollout), of('updated', 2, two)], ['stalled', 1, 'after 1']],
    [
      'a rollout that is over, found again',
      [of('updated', 1, rollout), of('updated', 2, { ...rollout, isFound: true })],
      ['updated', 1, 'after 1'],
    ],
    [
      'a rollout that is over, only found',
      [of('updated', 1, one), of('updated', 2, { ...rollout, ...one, isFound: true }), of('updated', 3, replaced)],
      ['updated', 2, 'after 2'],
    ],
    [
      'another image, then a rollout that was over before it',
      [of('updated', 1, replaced), of('updated', 2, { ...rollout, isFound: true })],
      ['updated', 1, 'after 1'],
    ],
    ['a rollout that is over, then rolled back', [of('updated', 1, rollout), of('stalled', 2, rollout)], ['stalled', 2, 'after 2']],
  ];
  for (const [name, results, [kind, afterMs, message]] of rows) {
    const id = name.replaceAll(/\W+/g, '-');
    for (const result of results) await log.recordResult(id, 'shop/web', result, { ...event, id });
    const record = readHash(await connection.hgetall(eventKeys('{p}').hash(id)));
    const shown = record?.state === 'matched' ? record.results.get('shop/web') : undefined;
    assert.deepEqual([shown?.kind, shown?.afterMs, shown?.message], [kind, afterMs, message], name);
  }
});

test('the results of a burst are written together, in their order', { timeout: 60_000 }, async (t) => {
  const { redis, connection, log } = await start(t);
  const calls = async () => Number(/cmdstat_eval:calls=(\d+)/.exec(await askRedis(redis.port, 'INFO commandstats'))?.[1] ?? 0);
  const pushes = Array.from({ length: 100 }, (_, index) => push(index));
  const replay: PushEvent = { ...push(100), repository: { registry: 'other.example.com', path: 'shop/web' }, replayOf: 'event-0' };
  const result = { kind: 'updated', reason: 'Updated', message: '', at: replay.receivedAt, afterMs: 500 } as const;
  await Promise.all([
    ...[...pushes, replay].map((event) => log.recordResult(event.id, 'shop/web', result, event)),
    log.recordResult('event-0', 'shop/web', { ...result, kind: 'retrying', reason: 'Retrying' }),
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
