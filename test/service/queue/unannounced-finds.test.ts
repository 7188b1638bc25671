import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Repository } from '../../../src/core/model/image-reference.ts';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { connectWorker, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { createEventLog } from '../../../src/service/queue/event-log.ts';
import { createPushQueue } from '../../../src/service/queue/producer.ts';
import { createEventReader } from '../../../src/service/queue/read-events.ts';
import { createUnannouncedFinds } from '../../../src/service/queue/unannounced-finds.ts';
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

const at = Date.parse('2026-03-01T12:00:00.000Z');
const secondsLater = (seconds: number) => new Date(at + seconds * 1_000);
const repository: Repository = { registry: 'r.example.com', path: 'shop/web' };
const event = (id: string, push: Partial<PushEvent> = {}): PushEvent => ({
  id,
  receiver: 'prod',
  provider: 'harbor',
  repository,
  tag: '1.0.0',
  receivedAt: new Date(at).toISOString(),
  ...push,
});

let worlds = 0;
function start() {
  const prefix = `{finds-${++worlds}}`;
  const access = { redis: connection, prefix, onError: () => undefined };
  const create = () => createUnannouncedFinds(connection, prefix, createEventReader(access));
  return {
    prefix,
    create,
    finds: create(),
    log: createEventLog({ redis: connection, prefix }, assert.fail),
    queue: createPushQueue(access, 0),
  };
}

test('unannounced images are counted by registry, each once, whichever replica finds it', async () => {
  const { create } = start();
  const [firstReplica, secondReplica] = [create(), create()];
  assert.equal(await firstReplica.add(repository, { tag: '1.0.0' }, secondsLater(0)), 1);
  assert.equal(await secondReplica.add(repository, { tag: '1.0.0' }, secondsLater(1)), undefined);
  assert.equal(await secondReplica.add({ ...repository, path: 'shop/api' }, { tag: '1.0.0' }, secondsLater(2)), 2);
  assert.equal(await firstReplica.add(repository, { tag: '1.0.0', digest: `sha256:${'1'.repeat(64)}` }, secondsLater(3)), 3);
  assert.equal(await firstReplica.add({ ...repository, registry: 'other.example.com' }, { tag: '1.0.0' }, secondsLater(3)), 1);
  const counts = await Promise.all(
    ['a', 'b', 'c'].map((tag, index) => (index === 1 ? firstReplica : secondReplica).add(repository, { tag }, secondsLater(4))),
  );
  assert.deepEqual(
    counts.toSorted((a, b) => Number(a) - Number(b)),
    [4, 5, 6],
  );
});

test('an announced push resets the count, and a push to another registry, an older one or a replay does not', async () => {
  const { finds, log } = start();
  await finds.add(repository, { tag: '1' }, secondsLater(10));
  await log.matched(
    event('a', { repository: { registry: 'other.example.com', path: 'shop/web' }, receivedAt: secondsLater(15).toISOString() }),
    [],
  );
  await log.matched(event('b', { receivedAt: secondsLater(5).toISOString() }), []);
  await log.matched(event('c', { receivedAt: secondsLater(15).toISOString(), replayOf: 'b' }), []);
  assert.equal(await finds.add(repository, { tag: '2' }, secondsLater(20)), 2);
  await log.matched(event('d', { repository: { ...repository, path: 'shop/api' }, receivedAt: secondsLater(25).toISOString() }), []);
  // Told by a slower worker.
  await log.matched(event('e', { receivedAt: secondsLater(21).toISOString() }), []);
  assert.equal(await finds.add(repository, { tag: '3' }, secondsLater(30)), 1);
});

test('the next count of unannounced images is known in advance, and an image from before the last push counts again', async () => {
  const { finds, log } = start();
  assert.equal(await finds.countWith(repository, { tag: '1' }), 1);
  await finds.add(repository, { tag: '1' }, secondsLater(10));
  assert.deepEqual([await finds.countWith(repository, { tag: '1' }), await finds.countWith(repository, { tag: '2' })], [undefined, 2]);
  await log.matched(event('a', { receivedAt: secondsLater(15).toISOString() }), []);
  assert.equal(await finds.countWith(repository, { tag: '1' }), 1);
  assert.equal(await finds.add(repository, { tag: '1' }, secondsLater(20)), 1);
});

test('the counts of unannounced images expire', async () => {
  const { finds, log, prefix } = start();
  await log.matched(event('a'), ['shop/web']);
  await finds.add(repository, { tag: '1' }, secondsLater(10));
  for (const key of [`${prefix}:poll:unannounced:r.example.com`, `${prefix}:events:registries`])
    assert.ok((await connection.ttl(key)) > 0, key);
});

test('an image counts as announced if the record or the queue contains it', async () => {
  const { finds, log, queue } = start();
  await log.matched(event('a', { digest: `sha256:${'1'.repeat(64)}` }), ['shop/web']);
  await log.unwatched(event('b', { tag: '2.0.0' }), new Date(at));
  await queue.add([event('c', { tag: '3.0.0' })]);
  const isAnnounced = (tag: string, digest?: string) => finds.isAnnounced(repository, { tag, ...(digest !== undefined && { digest }) });
  assert.deepEqual(await Promise.all(['1.0.0', '2.0.0', '3.0.0', '4.0.0'].map((tag) => isAnnounced(tag))), [true, true, true, false]);
  assert.deepEqual(
    [await isAnnounced('1.0.0', `sha256:${'1'.repeat(64)}`), await isAnnounced('1.0.0', `sha256:${'2'.repeat(64)}`)],
    [true, false],
  );
  assert.equal(await isAnnounced('2.0.0', `sha256:${'2'.repeat(64)}`), true);
  assert.equal(await finds.isAnnounced({ ...repository, path: 'shop' }, { tag: '1.0.0' }), false);
});
