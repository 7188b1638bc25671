import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { IgnoredPush } from '../../../src/core/model/push-event.ts';
import { connectProducer } from '../../../src/service/queue/connection.ts';
import { createEventLog } from '../../../src/service/queue/event-log.ts';
import type { EventRecord } from '../../../src/service/queue/event-record.ts';
import { createIgnoredLog, type IgnoredDelivery } from '../../../src/service/queue/ignored-log.ts';
import { createEventReader, type EventQuery } from '../../../src/service/queue/read-events.ts';
import { createUnannouncedFinds } from '../../../src/service/queue/unannounced-finds.ts';
import { startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { cpuCost } from '../receive/cpu-cost.ts';

const noon = Date.parse('2026-03-01T12:00:00.000Z');
const at = (seconds: number) => new Date(noon + seconds * 1_000);

function deliveryOf(ignored: readonly IgnoredPush[], more: Partial<IgnoredDelivery> = {}): IgnoredDelivery {
  return { receiver: 'prod', provider: 'harbor', ignored, receivedAt: at(0), ...more };
}
const noTag = (repository = 'shop/web', tag?: string): IgnoredPush => ({
  code: 'NoTag',
  reason: 'pushed by digest, without a tag',
  registry: 'r.example.com',
  repository,
  ...(tag !== undefined && { tag }),
});
const pull = (tag: string): IgnoredPush => ({ code: 'OtherEvent', reason: 'not a push: pull', repository: 'shop/web', tag });

/** Redis, its log of pushes and of what was ignored, and a reader of both. */
async function start(t: TestContext, options: { readonly flushMs?: number; readonly canWrite?: () => boolean } = {}) {
  const redis = await startRedis();
  const connection = connectProducer(redis.url, 1_000);
  connection.on('error', () => undefined);
  const dropped: Record<string, number> = {};
  const log = createIgnoredLog({
    redis: connection,
    prefix: '{p}',
    aliases: new Map([['mirror.example.com', 'r.example.com']]),
    canWrite: () => true,
    onDropped: ({ receiver }, why, count) => (dropped[`${receiver} ${why}`] = (dropped[`${receiver} ${why}`] ?? 0) + count),
    flushMs: 5,
    ...options,
  });
  t.after(async () => {
    redis.thaw();
    await log.stop();
    connection.disconnect();
    await redis.stop();
  });
  await waitFor('the connection', () => connection.status === 'ready');
  const reader = createEventReader({ redis: connection, prefix: '{p}', onError: () => undefined });
  const read = async (query: EventQuery = { ignored: true }) => {
    const found: EventRecord[] = [];
    for await (const batch of reader.list(query)) found.push(...batch);
    return found;
  };
  const pushes = createEventLog({ redis: connection, prefix: '{p}' }, ({ message }) => assert.fail(message));
  return { redis, connection, dropped, log, reader, read, pushes };
}

const push = (id: string, seconds: number) => ({
  id,
  receiver: 'prod',
  provider: 'harbor',
  repository: { registry: 'r.example.com', path: 'shop/web' },
  tag: '1.0.0',
  receivedAt: at(seconds).toISOString(),
});

const tagsOf = (records: readonly EventRecord[]) => records.map(({ event: { tag, id } }) => tag ?? id);

test('an ignored push is an event with its reason, among the pushes, newest first', { timeout: 60_000 }, async (t) => {
  const { log, read, reader, pushes } = await start(t);
  await pushes.matched(push('first', 1), ['shop/web']);
  await pushes.unwatched(push('third', 3), at(3));
  log.add(deliveryOf([noTag('shop/web', 'second')], { receivedAt: at(2) }));
  log.add(deliveryOf([pull('fourth')], { receivedAt: at(4), registryOverride: 'Mirror.example.com:443' }));
  const all = await waitFor('the records', async () => {
    const found = await read();
    return found.length === 4 && found;
  });
  assert.deepEqual(
    all.map(({ event, state }) => `${event.tag} ${state}`),
    ['fourth ignored', '1.0.0 unwatched', 'second ignored', '1.0.0 matched'],
  );
  const [fourth] = all;
  assert.deepEqual(fourth, {
    state: 'ignored',
    event: {
      id: fourth?.event.id,
      receiver: 'prod',
      provider: 'harbor',
      reason: 'OtherEvent',
      message: 'not a push: pull',
      registry: 'r.example.com',
      repository: 'shop/web',
      tag: 'fourth',
      receivedAt: '2026-03-01T12:00:04.000Z',
      count: 1,
    },
  });
  assert.deepEqual(await reader.get(fourth?.event.id ?? ''), fourth);
  assert.deepEqual(tagsOf(await read({ ignored: true, before: { at: noon + 3_000, id: 'third' } })), ['second', '1.0.0']);
  assert.deepEqual(tagsOf(await read({})), ['1.0.0', '1.0.0'], 'only who asks for what was ignored gets it');
});

test('a repeated ignored push is the same event, with a count and the last time', { timeout: 60_000 }, async (t) => {
  const { log, read } = await start(t);
  for (const seconds of [1, 2, 3]) log.add(deliveryOf([noTag(), noTag(), pull('1')], { receivedAt: at(seconds) }));
  const countOf = async (reason: string) => {
    const found = (await read()).filter(({ state, event }) => state === 'ignored' && 'reason' in event && event.reason === reason);
    return found.map(({ event }) => ('count' in event ? [event.count, event.receivedAt] : []));
  };
  await waitFor('the first records', async () => (await countOf('NoTag')).length > 0);
  log.add(deliveryOf([noTag()], { receivedAt: at(9) }));
  await waitFor('the count', async () => (await countOf('NoTag'))[0]?.[0] === 7);
  assert.deepEqual(await countOf('NoTag'), [[7, at(9).toISOString()]]);
  assert.deepEqual(await countOf('OtherEvent'), [[3, at(3).toISOString()]]);
});

test(
  'events of one repository are found by its full name, or by its path where the sender names no registry',
  { timeout: 60_000 },
  async (t) => {
    const { log, read } = await start(t);
    log.add(deliveryOf([noTag('Shop/Web', 'full'), noTag('shop/other', 'other'), pull('path'), { reason: 'no name', code: 'Incomplete' }]));
    log.add(deliveryOf([{ reason: 'a name that cannot be', repository: '../Shop', tag: 'odd', registry: 'r.example.com' }]));
    await waitFor('the records', async () => (await read()).length === 5);
    const of = async (repository: string) => tagsOf(await read({ ignored: true, repository })).sort();
    assert.deepEqual(await of('r.example.com/shop/web'), ['full', 'path']);
    assert.deepEqual(await of('other.example.com/shop/web'), ['path']);
    assert.deepEqual(await of('r.example.com/shop/other'), ['other']);
    assert.deepEqual(await of('r.example.com/shop'), []);
  },
);

test('the newest ignored pushes of each receiver and reason are kept, and displace no other events', { timeout: 60_000 }, async (t) => {
  const { connection, log, read, pushes, dropped } = await start(t);
  for (let index = 0; index < 20; index++) {
    await pushes.matched(push(`watched-${index}`, index), ['shop/web']);
    await pushes.unwatched(push(`unwatched-${index}`, index), at(index));
  }
  log.add(deliveryOf([noTag()]));
  log.add(deliveryOf([pull('of another')], { receiver: 'other' }));
  for (let round = 0; round < 30; round++) {
    const seconds = 10 + round;
    log.add(
      deliveryOf(
        Array.from({ length: 20 }, (_, index) => pull(`${round}-${index}`)),
        { receivedAt: at(seconds) },
      ),
    );
    await waitFor('the round to be written', async () => (await read()).some(({ event }) => event.tag === `${round}-19`));
  }
  const all = await read();
  const ignored = all.filter(({ state }) => state === 'ignored');
  const pulls = ignored.filter(({ event }) => event.receiver === 'prod' && event.tag !== undefined);
  assert.ok(pulls.length >= 50 && pulls.length <= 80, String(pulls.length));
  assert.equal(ignored.length, pulls.length + 2);
  assert.ok(pulls.every(({ event }) => Number(event.tag?.split('-')[0]) >= 25));
  assert.equal(all.length - ignored.length, 40);
  // What has lost its place in an index has no hash either.
  assert.equal((await connection.keys('{p}:event:*')).length, all.length);
  assert.deepEqual(dropped, {});
});

test(
  'a flood of ignored pushes costs almost nothing here and in Redis, and dropped entries are counted',
  { timeout: 120_000 },
  async (t) => {
    const { connection, log, dropped, read } = await start(t, { flushMs: 50 });
    const commands = async () => Number(/total_commands_processed:(\d+)/.exec(await connection.info('stats'))?.[1]);
    const before = await commands();
    const deliveries = 20_000;
    let sent = 0;
    const cost = await cpuCost(200, () => {
      for (let index = 0; index < deliveries; index++) log.add(deliveryOf([pull(String(++sent))], { receivedAt: at(1) }));
    });
    t.diagnostic(`${((cost * 1_000) / deliveries).toFixed(2)} µs of CPU for each ignored entry of a flood`);
    assert.ok(cost < 1_000, `${cost} ms for ${deliveries}`);
    await log.stop();
    const written = (await read()).length;
    const used = (await commands()) - before;
    assert.ok(used < 300, `${used} commands`);
    assert.ok(written > 0 && written <= 80, String(written));
    assert.ok((dropped['prod rate'] ?? 0) + (dropped['prod redis'] ?? 0) >= deliveries - 1_000, JSON.stringify(dropped));
  },
);

test('of a delivery with a thousand ignored entries, only those listed in its answer are recorded', { timeout: 60_000 }, async (t) => {
  const { log, dropped, read } = await start(t);
  log.add(deliveryOf(Array.from({ length: 1_000 }, (_, index) => noTag('shop/web', String(index)))));
  await log.stop();
  assert.equal((await read()).length, 20);
  assert.deepEqual(dropped, { 'prod rate': 980 });
});

test(
  'while Redis hangs, ignored pushes are dropped and counted in bounded memory, and are written again later',
  { timeout: 60_000 },
  async (t) => {
    const { redis, log, dropped, read } = await start(t);
    redis.freeze();
    for (let index = 0; index < 10_000; index++) {
      log.add(deliveryOf([noTag('shop/web', `frozen-${index}`)], { receivedAt: at(1) }));
      if (index % 1_000 === 0) await new Promise(setImmediate);
    }
    await waitFor('the write to be given up', () => (dropped['prod redis'] ?? 0) > 0);
    redis.thaw();
    await waitFor('new ones to be written', async () => {
      log.add(deliveryOf([noTag('shop/web', 'thawed')], { receivedAt: at(2) }));
      return (await read().catch(() => [])).some(({ event }) => event.tag === 'thawed');
    });
    assert.ok((dropped['prod redis'] ?? 0) + (dropped['prod rate'] ?? 0) >= 9_000, JSON.stringify(dropped));
  },
);

test('no ignored push is written into a Redis that is nearly full or full', { timeout: 60_000 }, async (t) => {
  let isRoom = false;
  const { connection, log, dropped, read } = await start(t, { canWrite: () => isRoom });
  log.add(deliveryOf([noTag()]));
  await waitFor('it to be dropped', () => dropped['prod redis'] === 1);
  isRoom = true;
  await connection.config('SET', 'maxmemory', '1');
  log.add(deliveryOf([noTag(), noTag()]));
  await waitFor('these to be dropped', () => dropped['prod redis'] === 3);
  await connection.config('SET', 'maxmemory', '0');
  assert.deepEqual(await read(), []);
  log.add(deliveryOf([noTag()]));
  await waitFor('the next to be written', async () => (await read()).length === 1);
});

test('shutdown waits for the ignored pushes that were noted', { timeout: 60_000 }, async (t) => {
  const { log, read } = await start(t, { flushMs: 3_600_000 });
  log.add(deliveryOf([noTag()]));
  await log.stop();
  assert.equal((await read()).length, 1);
});

test('an ignored push does not count as an announcement for polls', { timeout: 60_000 }, async (t) => {
  const { connection, log, reader, read } = await start(t);
  log.add(deliveryOf([noTag('shop/web', '1.0.0')]));
  await waitFor('the record', async () => (await read()).length === 1);
  const finds = createUnannouncedFinds(connection, '{p}', reader);
  assert.equal(await finds.isAnnounced({ registry: 'r.example.com', path: 'shop/web' }, { tag: '1.0.0' }), false);
});
