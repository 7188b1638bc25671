/** Pushes that wait for a scan, in a real Redis, with a worker that takes whatever may start. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test, type TestContext } from 'node:test';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import type { ScanEvent } from '../../../src/core/model/scan-event.ts';
import { connectProducer, connectWorker } from '../../../src/service/queue/connection.ts';
import type { PushJob } from '../../../src/service/queue/jobs.ts';
import { createPushQueue, openQueue } from '../../../src/service/queue/producer.ts';
import { createEventReader } from '../../../src/service/queue/read-events.ts';
import { readPushJob } from '../../../src/service/queue/read-job.ts';
import { createFollowedStore, createScanWaits } from '../../../src/service/queue/scan-waits.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

let redis: Redis;
before(async () => void (redis = await startRedis()));
after(() => redis.stop());

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const repository = { registry: 'harbor.example.com', path: 'shop/web' };
const longMs = 600_000;

const push = (id: string, more: Partial<PushEvent> & { waitMs?: number } = {}): PushEvent => {
  const { waitMs = longMs, ...fields } = more;
  const now = Date.now();
  return {
    id,
    receiver: 'prod',
    provider: 'harbor',
    repository,
    tag: '1.0.0',
    receivedAt: new Date(now).toISOString(),
    waitsUntil: new Date(now + waitMs).toISOString(),
    ...fields,
  };
};
const scan = (more: Partial<ScanEvent> = {}): ScanEvent => ({ receiver: 'prod', repository, ...more });

/** A replica that receives and works, on a prefix of its own unless given. */
async function start(t: TestContext, prefix = `{${randomUUID()}}`) {
  const [producer, consumer] = [connectProducer(redis.url), connectWorker(redis.url)];
  const onError = () => undefined;
  const done: string[] = [];
  const worker = createWorker<PushJob>({
    access: { redis: consumer, prefix, onError },
    queue: 'push',
    read: readPushJob,
    concurrency: 8,
    now: Date.now,
    random: Math.random,
    process: ({ id }) => Promise.resolve(void done.push(id)),
  });
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await worker.stop(10_000);
    producer.disconnect();
    consumer.disconnect();
  };
  t.after(stop);
  await waitFor('the connections', () => producer.status === 'ready' && consumer.status === 'ready');
  worker.start();
  const access = { redis: producer, prefix, onError };
  const queue = createPushQueue(access, 0);
  const waits = createScanWaits(access);
  const unfollowed: Error[] = [];
  const storeWith = (follow: typeof waits.follow) => createFollowedStore(queue.add, { follow }, (error) => void unfollowed.push(error));
  const store = async (...pushes: PushEvent[]) => (await storeWith(waits.follow)(pushes)).map(({ id }) => id);
  const stateOf = async (id: string) => (await openQueue('push', access).getJob(id))?.getState();
  const untilDone = (...ids: string[]) => waitFor(`${ids.join(', ')} to be done`, () => ids.every((id) => done.includes(id)));
  return {
    prefix,
    producer,
    access,
    waits,
    store,
    storeWith,
    unfollowed,
    stateOf,
    done,
    untilDone,
    stop,
    reader: createEventReader(access),
  };
}

test('a push waits with its reason, and starts with the scan of its own digest only', async (t) => {
  const { store, stateOf, waits, untilDone, reader, done } = await start(t);
  await store(push('a', { digest: digest('a') }), push('b', { digest: digest('b'), tag: '1.1.0' }));
  const record = await reader.get('a');
  assert.ok(record !== undefined && record.state !== 'ignored');
  assert.deepEqual([record.state, record.reason], ['waiting', 'WaitsForScan']);
  assert.match(record.why ?? '', /^until the registry announces the end of its scan, or until \d{4}-/);
  for await (const page of reader.list({})) assert.deepEqual(new Set(page.map(({ state }) => state)), new Set(['waiting']));
  assert.equal(await waits.end(scan({ digest: digest('a') })), 1);
  await untilDone('a');
  assert.deepEqual([await stateOf('b'), done], ['delayed', ['a']]);
});

test('a scan that ends before its push is stored lets that push start at once, and no other', async (t) => {
  const { store, stateOf, waits, untilDone } = await start(t);
  assert.equal(await waits.end(scan({ digest: digest('a') })), 0);
  await store(push('later', { digest: digest('a') }), push('other', { digest: digest('b') }));
  await untilDone('later');
  assert.equal(await stateOf('other'), 'delayed');
});

test('a repeated scan and a repeated push change nothing', async (t) => {
  const { store, waits, untilDone, done } = await start(t);
  await store(push('a', { digest: digest('a') }));
  await store(push('a', { digest: digest('a') }));
  assert.equal(await waits.end(scan({ digest: digest('a') })), 1);
  await untilDone('a');
  assert.equal(await waits.end(scan({ digest: digest('a') })), 0);
  await store(push('a', { digest: digest('a') }));
  assert.deepEqual(done, ['a']);
});

test('a push without an id of its sender that is delivered twice is one job, which the scan starts', async (t) => {
  const { store, waits, untilDone, done } = await start(t);
  const [first] = await store(push('u', { digest: digest('a'), isUnkeyed: true }));
  const [second] = await store(push('u', { digest: digest('a'), isUnkeyed: true }));
  assert.ok(first !== undefined && first === second);
  await waits.end(scan({ digest: digest('a') }));
  await untilDone(first);
  assert.deepEqual(done, [first]);
});

test('a push without a digest starts with any scan of its repository, and a scan of an unknown digest starts all pushes', async (t) => {
  const { store, stateOf, waits, untilDone } = await start(t);
  await store(push('replicated'), push('a', { digest: digest('a') }), push('b', { digest: digest('b') }));
  await waits.end(scan({ digest: digest('a') }));
  await untilDone('replicated', 'a');
  assert.equal(await stateOf('b'), 'delayed');
  await waits.end(scan({ digest: digest('c') }));
  await untilDone('b');
});

test('a scan of another repository, or of another receiver, starts no push', async (t) => {
  const { store, stateOf, waits } = await start(t);
  await store(push('a', { digest: digest('a') }));
  assert.equal(await waits.end(scan({ digest: digest('a'), repository: { ...repository, path: 'shop/api' } })), 0);
  assert.equal(await waits.end(scan({ digest: digest('a'), receiver: 'other' })), 0);
  assert.equal(await stateOf('a'), 'delayed');
});

test('a push without a scan starts when it has waited for the maximum time', async (t) => {
  const { store, untilDone } = await start(t);
  await store(push('a', { waitMs: 50 }));
  await untilDone('a');
});

test('a push that one replica stored is started by another one, even after a restart of Redis', async (t) => {
  const first = await start(t);
  await first.store(push('a', { digest: digest('a') }));
  await first.stop();
  await redis.kill9();
  await redis.restart();
  const second = await start(t, first.prefix);
  assert.equal(await second.stateOf('a'), 'delayed');
  await second.waits.end(scan({ digest: digest('a') }));
  await second.untilDone('a');
});

test('after Redis was wiped, a scan starts nothing, and the push is stored again as a new one', async (t) => {
  const { store, waits, producer, untilDone, stateOf } = await start(t);
  await store(push('a', { digest: digest('a') }));
  await producer.flushall();
  assert.equal(await waits.end(scan({ digest: digest('b') })), 0);
  await store(push('a', { digest: digest('a') }));
  assert.equal(await stateOf('a'), 'delayed');
  await waits.end(scan({ digest: digest('a') }));
  await untilDone('a');
});

test('foreign entries in the lists of waiting pushes start nothing and do no harm', async (t) => {
  const { store, waits, producer, prefix, untilDone } = await start(t);
  await store(push('a', { digest: digest('a') }));
  const key = `${prefix}:scans:waiting:prod:harbor.example.com/shop/web`;
  for (const odd of ['{', '7', '{"id":7}', '{"id":"none","tag":"1.0.0"}', '{"id":"meta","tag":"x"}', '{"id":"delayed","tag":"x"}'])
    await producer.zadd(key, Date.now(), odd);
  assert.equal(await waits.end(scan()), 1);
  await untilDone('a');
});

test('a push whose wait cannot be recorded is stored all the same, and a push that does not wait is not recorded', async (t) => {
  const { storeWith, unfollowed, stateOf, untilDone } = await start(t);
  const asked: (readonly PushEvent[])[] = [];
  const broken = storeWith((pushes) => {
    asked.push(pushes);
    return Promise.reject(new Error('Redis is full'));
  });
  const { waitsUntil: _, ...direct } = push('direct');
  const stored = await broken([push('waiting'), direct]);
  assert.deepEqual([stored.map(({ id }) => id), unfollowed.map(({ message }) => message)], [['waiting', 'direct'], ['Redis is full']]);
  assert.deepEqual(
    asked.flat().map(({ id }) => id),
    ['waiting'],
  );
  await untilDone('direct');
  assert.equal(await stateOf('waiting'), 'delayed');
});
