/** What the API answers from memory while Redis is away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../../../src/service/api/access.ts';
import { recallEvents } from '../../../src/service/api/recall.ts';
import type { EventRecord } from '../../../src/service/queue/event-record.ts';
import type { EventReader } from '../../../src/service/queue/read-events.ts';
import { eventTime, ignoredOf, recordOf, startApi } from './fake-events.ts';

/** A Redis that can be away. */
function redisOf(records: readonly EventRecord[]) {
  let isAway = false;
  const check = () => (isAway ? Promise.reject(new Error('Redis is away')) : Promise.resolve());
  const reader: EventReader = {
    async get(id) {
      await check();
      return records.find(({ event }) => event.id === id);
    },
    async *list({ before }) {
      await check();
      yield records.filter(({ event }) => before === undefined || Date.parse(event.receivedAt) < before.at);
    },
  };
  return { reader, check, leave: () => (isAway = true), come: () => (isAway = false) };
}

const records = [
  recordOf('event-number-00003', 30, { 'shop/web': 'updated' }),
  recordOf('event-number-00002', 20, { 'ops/web': 'failed' }),
  ignoredOf('event-number-00001', 10),
];
const userWith = (...rights: string[]) =>
  ({
    kind: 'kubernetes',
    reviewToken: () => Promise.resolve({ user: 'ann', groups: [] }),
    reviewAccess: (_caller: unknown, { verb, namespace = '*' }: Question) => Promise.resolve(rights.includes(`${verb} ${namespace}`)),
  }) as const;
const headers = { authorization: 'Bearer anns-token', host: 'localhost:9090' };

test('without Redis, pushes that were read before are answered from memory, with their age, filters and permissions', async (t) => {
  const rights = ['list *'];
  const { reader, leave, come } = redisOf(records);
  const { app } = startApi(t, userWith(...rights), [], { reader });
  const limited = startApi(t, userWith('get ops'), [], { reader }).app;
  const read = async (url: string, from = app) => {
    const answer = await from.inject({ url: `/api/v1${url}`, headers });
    return { status: answer.statusCode, ...answer.json<{ events?: { id: string }[]; asOf?: string; outcome?: string }>() };
  };
  const ids = async (url: string, from = app) => (await read(url, from)).events?.map(({ id }) => Number(id.slice(-1)));
  for (const from of [app, limited]) assert.equal((await read('/events', from)).asOf, undefined);
  leave();
  const { status, asOf } = await read('/events');
  assert.deepEqual([status, asOf], [200, '2026-03-01T12:00:00Z']);
  assert.deepEqual(await ids('/events'), [3, 2, 1]);
  assert.deepEqual(await ids('/events?outcome=failed'), [2]);
  assert.deepEqual(await ids('/events?namespace=shop'), [3]);
  assert.deepEqual(await ids('/events?repository=r.example.com/shop/web&limit=1'), [3]);
  assert.deepEqual(await ids(`/events?before=${eventTime + 20_000}-event-number-00002`), [1]);
  assert.deepEqual(await ids('/events', limited), [2]);
  assert.equal((await read('/events/event-number-00003')).outcome, 'updated');
  assert.equal((await read('/events/event-number-00003', limited)).status, 404);
  // Figures of what was read before would be taken for those of now, and nothing can be stored.
  assert.equal((await read('/overview')).status, 503);
  come();
  assert.equal((await read('/events')).asOf, undefined);
});

test('pushes that nobody has read cannot be answered without Redis', async (t) => {
  const { reader, leave } = redisOf(records);
  const { app } = startApi(t, userWith('list *'), [], { reader });
  leave();
  for (const url of ['/events', '/events/event-number-00003'])
    assert.equal((await app.inject({ url: `/api/v1${url}`, headers })).statusCode, 503);
});

test('the newest pushes are remembered even if nobody has asked for them', async (t) => {
  const { reader, leave } = redisOf([]);
  const noted = Promise.withResolvers<void>();
  const { app } = startApi(t, userWith('list *'), [], {
    reader,
    changedEvents: async () => {
      noted.resolve();
      return records;
    },
  });
  await app.ready();
  await noted.promise;
  leave();
  const { events } = (await app.inject({ url: '/api/v1/events', headers })).json<{ events: unknown[] }>();
  assert.equal(events.length, 3);
});

test('without Redis, receivers, registries and processes are answered as they were last', async (t) => {
  const { check, leave } = redisOf([]);
  const after =
    <T>(value: T) =>
    async () => {
      await check();
      return value;
    };
  const { app } = startApi(t, userWith('list *'), [], {
    installation: {
      running: after({ processes: [{ name: 'a', version: '1.0.0', roles: ['work'], startedAt: '2026-03-01T11:00:00Z' }] }),
      receivers: after([{ name: 'prod', provider: 'harbor' }]),
      deliveries: after(new Map([['prod', new Map([[401, eventTime]])]])),
      announcements: after([]),
    },
  });
  const read = async (url: string) => (await app.inject({ url: `/api/v1${url}`, headers })).json<Record<string, unknown>>();
  const before = await Promise.all(['/receivers', '/installation'].map(read));
  leave();
  const now = await Promise.all(['/receivers', '/installation'].map(read));
  assert.deepEqual(
    now,
    before.map((one) => ({ ...one, asOf: '2026-03-01T12:00:00Z' })),
  );
});

test('no caller waits for Redis while it is known to be away', async () => {
  let [isAway, asked] = [false, 0];
  const reader: EventReader = {
    get: () => Promise.reject(new Error('away')),
    async *list() {
      asked++;
      yield await Promise.resolve(records);
    },
  };
  const memory = recallEvents(reader, { now: () => new Date(eventTime), isAway: () => isAway });
  for await (const _ of memory.reader.list({})) continue;
  isAway = true;
  assert.ok(memory.isAway());
  const found = [];
  for await (const batch of memory.past()?.reader.list({}) ?? []) found.push(...batch);
  assert.deepEqual([found.length, asked], [3, 1]);
});

test('the memory of pushes is bounded by pushes and by their results, and keeps the newest', async () => {
  const memory = recallEvents(
    { get: () => Promise.resolve(undefined), list: () => assert.fail() },
    { now: () => new Date(), isAway: () => true },
  );
  const idsIn = async () => {
    const found: string[] = [];
    for await (const batch of memory.past()?.reader.list({}) ?? []) found.push(...batch.map(({ event }) => event.id));
    return found;
  };
  memory.note(Array.from({ length: 1_500 }, (_, index) => recordOf(`few-${index}`, index, {})));
  const few = await idsIn();
  assert.deepEqual([few.length, few[0], few.at(-1)], [1_000, 'few-1499', 'few-500']);
  const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`shop/web-${index}`, 'updated' as const]));
  memory.note(['a', 'b', 'c'].map((id, index) => recordOf(id, 5_000 + index, many)));
  assert.deepEqual(await idsIn(), ['c', 'b']);
});
