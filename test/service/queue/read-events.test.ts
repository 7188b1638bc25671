import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { GivenUpNotice } from '../../../src/core/model/notice.ts';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { connectWorker, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { createEventLog, type PolicyResult } from '../../../src/service/queue/event-log.ts';
import { eventKeys, type EventRecord } from '../../../src/service/queue/event-record.ts';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue } from '../../../src/service/queue/producer.ts';
import { createEventReader, type EventReader } from '../../../src/service/queue/read-events.ts';
import { readPushJob } from '../../../src/service/queue/read-job.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

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

const at = Date.parse('2026-03-01T12:00:00.000Z');
const event = (
  id: string,
  { seconds = 0, path = 'shop/web', ...more }: Partial<PushEvent> & { seconds?: number; path?: string } = {},
): PushEvent => ({
  id,
  receiver: 'prod',
  provider: 'harbor',
  repository: { registry: 'r.example.com', path },
  tag: '1.0.0',
  receivedAt: new Date(at + seconds * 1_000).toISOString(),
  ...more,
});
const result: PolicyResult = { kind: 'updated', reason: 'Updated', message: 'done', at: new Date(at).toISOString(), afterMs: 12 };

let worlds = 0;
/** A log of its own in the shared Redis. */
function start() {
  const prefix = `{world-${++worlds}}`;
  const access = { redis: connection, prefix, onError: () => undefined };
  return {
    prefix,
    access,
    log: createEventLog({ redis: connection, prefix }, assert.fail),
    reader: createEventReader(access),
    queue: createPushQueue(access, 0),
  };
}

async function read(reader: EventReader, query: Parameters<EventReader['list']>[0] = {}): Promise<EventRecord[]> {
  const found: EventRecord[] = [];
  for await (const batch of reader.list(query)) found.push(...batch);
  return found;
}
const idsOf = (records: readonly EventRecord[]) => records.map(({ event }) => event.id);

test('an event contains all its results', async () => {
  const { log, reader } = start();
  const push = event('a', { digest: `sha256:${'1'.repeat(64)}`, pushedAt: '2026-03-01T11:59:59Z', replayOf: 'z' });
  await log.matched(push, ['shop/web', 'shop/api']);
  await log.recordResult('a', 'shop/web', result);
  const expected: EventRecord = {
    event: push,
    state: 'matched',
    results: new Map([
      ['shop/web', result],
      ['shop/api', undefined],
    ]),
    readers: new Set(),
  };
  assert.deepEqual(await reader.get('a'), expected);
  assert.deepEqual(await read(reader), [expected]);
  assert.equal(await reader.get('b'), undefined);
});

const notice: GivenUpNotice = { target: 'ops', kind: 'Updated', reason: 'NotAccepted', at: new Date(at).toISOString() };

test('a push whose image had to wait shows what has become of the image since, which is recorded with the push that brought it first', async () => {
  const { log, reader } = start();
  const later = (seconds: number) => new Date(at + seconds * 1_000).toISOString();
  const waits: PolicyResult = { kind: 'waiting', reason: 'WavePause', message: 'waits', at: later(5), stage: 'guard', broughtBy: 'first' };
  await log.matched(event('first'), ['shop/web']);
  await log.recordResult('first', 'shop/web', result);
  await log.matched(event('second', { seconds: 5 }), ['shop/web']);
  await log.recordResult('second', 'shop/web', waits);
  await log.matched(event('lost', { seconds: 6 }), ['shop/web']);
  await log.recordResult('lost', 'shop/web', { ...waits, broughtBy: 'expired' });
  const shown = async () => {
    const listed = new Map((await read(reader)).map((record) => [record.event.id, record]));
    assert.deepEqual(await reader.get('second'), listed.get('second'));
    return ['second', 'lost'].map((id) => {
      const record = listed.get(id);
      const found = record === undefined || record.state === 'ignored' ? undefined : record.results.get('shop/web');
      return [found?.reason, found?.changes];
    });
  };
  assert.deepEqual(await shown(), [
    ['WavePause', undefined],
    ['WavePause', undefined],
  ]);
  const change = {
    workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
    container: 'web',
    index: 0,
    from: 'web:1',
    to: 'web:2',
  };
  await log.recordResult('first', 'shop/web', { ...result, reason: 'RolledOut', stage: 'rollout', at: later(9), changes: [change] });
  assert.deepEqual(await shown(), [
    ['RolledOut', undefined],
    ['WavePause', undefined],
  ]);
});

test('an event shows each notification about it that was given up once, until the notification expires', async () => {
  const { log, reader, prefix } = start();
  await log.matched(event('a'), ['shop/web', 'shop/api']);
  const refused: GivenUpNotice = { ...notice, target: 'shop/team', kind: 'RolledOut', reason: 'Refused', message: 'was answered 400' };
  const later = new Date(at + 1_000).toISOString();
  for (const one of [notice, notice, { ...refused, at: later }]) await log.recordGivenUp('a', 'shop/web', one);
  await log.recordGivenUp('a', 'ops/other', notice);
  await log.recordResult('a', 'shop/web', result);
  const found = await reader.get('a');
  assert.deepEqual(found?.state === 'matched' ? found.givenUp : found, new Map([['shop/web', [notice, { ...refused, at: later }]]]));
  assert.ok((await connection.ttl(eventKeys(prefix).hash('a'))) > 6 * 86_400, 'the record ends earlier');
});

test('a given up notice is kept if its push is recorded later, and leaves nothing if its push has expired', async () => {
  const { log, reader, prefix } = start();
  await log.recordGivenUp('a', 'shop/web', notice);
  assert.deepEqual([await reader.get('a'), await read(reader)], [undefined, []]);
  const left = await connection.ttl(eventKeys(prefix).hash('a'));
  assert.ok(left > 0 && left <= 86_400, String(left));
  await log.recordResult('a', 'shop/web', result, event('a'));
  const found = await reader.get('a');
  assert.deepEqual(found?.state === 'matched' ? found.givenUp : found, new Map([['shop/web', [notice]]]));
});

test('a bounded number of given up notices is kept, and foreign ones are shown as plain text or not at all', async () => {
  const { log, reader, prefix } = start();
  await log.matched(event('a'), ['shop/web', 'shop/api']);
  const names = Array.from({ length: 50 }, (_, index) => `shop/target-${String(index).padStart(2, '0')}`);
  for (const target of names) await log.recordGivenUp('a', 'shop/web', { ...notice, target });
  const hash = eventKeys(prefix).hash('a');
  assert.equal((await connection.hkeys(hash)).filter((field) => field.startsWith('notice:')).length, 10);
  const hostile = { ...notice, target: '\u001b[2Jops', message: 'a\nb' };
  await connection.hset(hash, {
    'notice:shop/api Updated x': JSON.stringify(hostile),
    'notice:shop/api Updated y': JSON.stringify({ ...notice, kind: 'Invented' }),
    'notice:shop/api Updated z': JSON.stringify({ ...notice, message: 'x'.repeat(100_000) }),
    'notice:shop/api Blocked z': 'no JSON',
    'notice:': '{}',
  });
  const found = await reader.get('a');
  const givenUp = found?.state === 'matched' ? found.givenUp : undefined;
  assert.equal(givenUp?.get('shop/web')?.length, 10);
  assert.deepEqual(givenUp?.get('shop/api'), [{ ...hostile, target: '\ufffd[2Jops', message: 'a\ufffdb' }]);
});

test('keys of the queue itself are not read as events, whatever they are named', async () => {
  const { queue, reader } = start();
  await queue.add([event('a')]);
  for (const id of ['wait', 'meta', 'events', 'id', 'marker']) assert.equal(await reader.get(id), undefined, id);
});

test('watched, unwatched and queued events are listed together, newest first, each once', async () => {
  const { log, reader, queue } = start();
  await log.matched(event('a', { seconds: 1 }), ['shop/web']);
  await log.unwatched(event('b', { seconds: 2, path: 'other/app' }), new Date(at));
  await log.matched(event('c', { seconds: 3 }), ['shop/web']);
  await queue.add([event('d', { seconds: 4 }), event('c', { seconds: 3 }), event('e', { seconds: 0 })]);
  const all = await read(reader);
  assert.deepEqual(idsOf(all), ['d', 'c', 'b', 'a', 'e']);
  assert.deepEqual(
    all.map(({ state }) => state),
    ['queued', 'matched', 'unwatched', 'matched', 'queued'],
  );
  assert.deepEqual(idsOf(await read(reader, { repository: 'r.example.com/shop/web' })), ['d', 'c', 'a', 'e']);
  assert.deepEqual(idsOf(await read(reader, { repository: 'r.example.com/other/app' })), ['b']);
  assert.deepEqual(await read(reader, { repository: 'r.example.com/shop' }), []);
});

test('a list of events can continue from any position, even among events of the same moment', async () => {
  const { log, reader } = start();
  const ids = Array.from({ length: 200 }, (_, index) => `e${String(index).padStart(3, '0')}`);
  for (const id of ids) await log.matched(event(id, { seconds: Math.floor(ids.indexOf(id) / 90) }), ['shop/web']);
  const expected = ids.toReversed();
  assert.deepEqual(idsOf(await read(reader)), expected);
  for (const position of [0, 19, 63, 64, 110, 150, 199]) {
    const id = expected[position] ?? '';
    const before = { id, at: at + Math.floor(ids.indexOf(id) / 90) * 1_000 };
    assert.deepEqual(idsOf(await read(reader, { before })), expected.slice(position + 1), id);
  }
  // The time of the events of 0 s, and the one after it, which no event has.
  assert.deepEqual(idsOf(await read(reader, { before: { id: '', at } })), []);
  assert.deepEqual(idsOf(await read(reader, { before: { id: '', at: at + 1 } })), expected.slice(110));
});

test("an event without a worker's record is shown as the queue knows it", async (t) => {
  const { reader, queue, access } = start();
  await queue.add([event('fails', { receivedAt: '2020-01-01T00:00:00.000Z' }), event('waits', { seconds: 1 })]);
  assert.equal((await reader.get('waits'))?.state, 'queued');
  const worker = createWorker<PushJob>({
    access,
    queue: 'push',
    read: readPushJob,
    concurrency: 2,
    process: () => Promise.reject(new Error('the watch of policies is lost')),
    now: () => at,
    random: () => 1,
  });
  t.after(() => worker.stop(1_000));
  worker.start();
  const failed = await waitFor('the first to fail', async () => {
    const record = await reader.get('fails');
    return record?.state === 'failed' && record;
  });
  assert.match(failed.why ?? '', /given up after 24 h: the watch of policies is lost/);
  // Between its tries it is queued, and working.
  await waitFor('the second to be shown with its next try', async () => {
    const shown = (await read(reader)).map(({ event, state }) => `${event.id} ${state}`);
    assert.deepEqual(shown, ['waits retrying', 'fails failed']);
    return true;
  });
});

test('a completed event is never shown as queued: its record is shown, and nothing after the record was deleted', async (t) => {
  const { log, reader, queue, access, prefix } = start();
  const worker = createWorker<PushJob>({
    access,
    queue: 'push',
    read: readPushJob,
    concurrency: 1,
    process: (push) => log.matched(push, ['shop/web']),
    now: () => at,
    random: () => 1,
  });
  t.after(() => worker.stop(1_000));
  await queue.add([event('a')]);
  worker.start();
  await waitFor('the job to be completed', async () => (await connection.zcard(`${prefix}:push:completed`)) === 1);
  // The record is written after it was looked for, and before the job.
  t.mock.method(connection, 'hgetall', () => Promise.resolve({}), { times: 1 });
  assert.equal((await reader.get('a'))?.state, 'matched');
  await connection.del(eventKeys(prefix).hash('a'));
  assert.equal(await reader.get('a'), undefined);
});

test('a result that is recorded before its push is not an event yet', async () => {
  const { log, reader, queue } = start();
  await log.recordResult('a', 'shop/web', result);
  assert.equal(await reader.get('a'), undefined);
  await queue.add([event('a')]);
  assert.equal((await reader.get('a'))?.state, 'queued');
});

test('the events of one repository among a hundred thousand are found by its index', async (t) => {
  const { reader, prefix } = start();
  const repositories = 1_000;
  await fill(prefix, 100_000, repositories);
  const empty = start();
  const countCommands = async (work: () => Promise<unknown>) => {
    const before = await commandsProcessed();
    await work();
    return (await commandsProcessed()) - before - 1;
  };
  let found: EventRecord[] = [];
  const ofEmpty = await countCommands(() => read(empty.reader));
  const ofMany = await countCommands(async () => (found = await read(reader, { repository: 'r.example.com/team/app-7' })));
  t.diagnostic(`commands: ${ofMany} for 100 of 100,000 events, ${ofEmpty} for an empty log`);
  assert.equal(found.length, 100);
  assert.ok(found.every(({ event, state }) => state !== 'ignored' && event.repository.path === 'team/app-7'));
  assert.ok(ofMany <= ofEmpty + 110, `${ofMany} commands`);
});

/** As the log would, but many at once. */
async function fill(prefix: string, count: number, repositories: number): Promise<void> {
  const keys = eventKeys(prefix);
  for (let done = 0; done < count;) {
    const pipeline = connection.pipeline();
    for (const end = done + 5_000; done < end; done++) {
      const { repository, ...rest } = event(`e${done}`, { seconds: done, path: `team/app-${done % repositories}` });
      pipeline.hset(keys.hash(rest.id), {
        ...rest,
        registry: repository.registry,
        repository: repository.path,
        outcome: 'matched',
        policies: '["a/b"]',
      });
      pipeline.zadd(keys.byTime, at + done * 1_000, rest.id);
      pipeline.zadd(keys.byRepository(`r.example.com/${repository.path}`), at + done * 1_000, rest.id);
    }
    await pipeline.exec();
  }
}

async function commandsProcessed(): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await connection.info('stats'))?.[1]);
}
