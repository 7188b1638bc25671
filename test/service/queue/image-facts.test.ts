import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as Connection } from 'ioredis';
import { connectProducer } from '../../../src/service/queue/connection.ts';
import { createImageFactsStore } from '../../../src/service/queue/image-facts.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';

let server: Redis;
let redis: Connection;
before(async () => {
  server = await startRedis();
  redis = new Connection(server.url);
});
after(async () => {
  redis.disconnect();
  await server.stop();
});

const week = 7 * 24 * 3_600_000;
let worlds = 0;
function open(options: { limit?: number; canWrite?: boolean } = {}) {
  const prefix = `{iw${++worlds}}`;
  const clock = { at: 1_763_700_000_000 };
  const canWrite = () => options.canWrite ?? true;
  const create = () =>
    createImageFactsStore({ redis, prefix, now: () => clock.at, canWrite, ...(options.limit !== undefined && { limit: options.limit }) });
  return { store: create(), other: create(), clock, key: `${prefix}:images:v3` };
}

test('facts of an image are shared by all replicas, and both of their keys expire', async () => {
  const { store, other, key } = open();
  assert.equal(await store.read('a'), undefined);
  await store.write('a', '{"of":"a"}');
  assert.equal(await other.read('a'), '{"of":"a"}');
  for (const one of [key, `${key}:times`]) assert.ok((await redis.pttl(one)) > week - 600_000);
});

test('the number of stored image facts is bounded, and the oldest are removed', async () => {
  const { store, clock, key } = open({ limit: 3 });
  for (const name of ['a', 'b', 'c', 'a', 'd', 'e']) {
    clock.at++;
    await store.write(name, name);
  }
  assert.deepEqual((await redis.hkeys(key)).sort(), ['a', 'd', 'e']);
  assert.equal(await redis.zcard(`${key}:times`), 3);
});

test('after the limit of image facts was lowered, surplus facts are removed with the next writes', async () => {
  const { store, clock, key } = open({ limit: 10 });
  for (let index = 0; index < 250; index++)
    await redis.multi().hset(key, `old ${index}`, 'x').zadd(`${key}:times`, clock.at, `old ${index}`).exec();
  for (const name of ['a', 'b', 'c']) await store.write(name, name);
  assert.equal(await redis.hlen(key), 10);
});

test('facts of an image are not used after a week, and are removed with a later write', async () => {
  const { store, clock, key } = open();
  await store.write('a', 'a');
  clock.at += week - 1;
  assert.equal(await store.read('a'), 'a');
  clock.at++;
  assert.equal(await store.read('a'), undefined);
  await store.write('b', 'b');
  assert.deepEqual(await redis.hkeys(key), ['b']);
});

test('facts of an image that are too large are neither written nor read', async () => {
  const { store, key, clock } = open();
  await store.write('a', 'a'.repeat(32 * 1024));
  await store.write('b', 'b'.repeat(32 * 1024 + 1));
  assert.deepEqual(await redis.hkeys(key), ['a']);
  await redis
    .multi()
    .hset(key, 'c', 'c'.repeat(32 * 1024 + 1))
    .zadd(`${key}:times`, clock.at, 'c')
    .exec();
  assert.equal(await store.read('c'), undefined);
});

test('no image facts are written while Redis has no memory for them', async () => {
  const { store, key } = open({ canWrite: false });
  await store.write('a', 'a');
  assert.equal(await redis.exists(key), 0);
});

test('neither a key of another type nor an unreachable Redis is an error for image facts', async () => {
  const { store, key } = open();
  await redis.set(key, 'x');
  await store.write('a', 'a');
  assert.equal(await store.read('a'), undefined);
  const lost = await startRedis();
  const connection = connectProducer(lost.url);
  connection.on('error', () => undefined);
  await lost.stop();
  const offline = createImageFactsStore({ redis: connection, prefix: '{iw}', now: () => 0, canWrite: () => true });
  await offline.write('a', 'a');
  assert.equal(await offline.read('a'), undefined);
  connection.disconnect();
});
