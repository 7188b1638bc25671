import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as Connection } from 'ioredis';
import type { ImageSource } from '../../../src/core/model/image-source.ts';
import { createReadRepositories } from '../../../src/service/queue/read-repositories.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

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

const day = 24 * 3_600_000;
const web: ImageSource = { registry: 'r.example.com', path: 'shop/web' };
const withSecret = (namespace: string): ImageSource => ({ ...web, access: { secrets: [{ namespace, name: 'pull', namedBy: 'policy' }] } });

let worlds = 0;
function open(limit?: number) {
  const prefix = `{reads${++worlds}}`;
  const clock = { at: 1_763_700_000_000 };
  const create = () => createReadRepositories({ redis, prefix, now: () => clock.at, ...(limit !== undefined && { limit }) });
  return { reads: create(), replica: create, clock, key: `${prefix}:repositories-read` };
}

test('a repository that one replica has read counts as read for all, for the same credentials only', async () => {
  const { reads, replica, key } = open();
  reads.remember(withSecret('shop'));
  await waitFor('the entry in Redis', async () => (await redis.zcard(key)) === 1);
  for (const one of [reads, replica()]) {
    assert.equal(await one.has(withSecret('shop')), true);
    assert.equal(await one.has(withSecret('spy')), false);
    assert.equal(await one.has(web), false);
    assert.equal(await one.has({ ...withSecret('shop'), path: 'shop/api' }), false);
  }
  assert.ok((await redis.pttl(key)) > 6 * day);
});

test('credentials that are refused no longer count as having read the repository', async () => {
  const { reads, replica, key } = open();
  reads.remember(web);
  await waitFor('the entry in Redis', async () => (await redis.zcard(key)) === 1);
  replica().forget(web);
  await waitFor('its removal', async () => (await redis.zcard(key)) === 0);
  reads.forget(web);
  assert.equal(await reads.has(web), false);
  assert.equal(await replica().has(web), false);
});

test('a read of a repository counts for a week, and a newer read prolongs it', async () => {
  const { reads, replica, clock, key } = open();
  reads.remember(web);
  await waitFor('the entry in Redis', async () => (await redis.zcard(key)) === 1);
  clock.at += 6 * day;
  assert.equal(await reads.has(web), true);
  reads.remember(web);
  await waitFor('the newer time', async () => Number((await redis.zrange(key, '0', '0', 'WITHSCORES'))[1]) === clock.at);
  clock.at += 6 * day;
  assert.equal(await replica().has(web), true);
  clock.at += 2 * day;
  assert.equal(await replica().has(web), false);
});

test('the number of remembered reads of repositories is bounded, and the oldest are removed', async () => {
  const { reads, replica, clock, key } = open(3);
  for (const path of ['a', 'b', 'c', 'd', 'e']) {
    clock.at += 1;
    reads.remember({ ...web, path });
  }
  reads.remember({ ...web, path: 'f' });
  await waitFor('six writes', async () => {
    const has = replica();
    return (await redis.zcard(key)) === 3 && (await has.has({ ...web, path: 'f' }));
  });
  assert.equal(await replica().has({ ...web, path: 'a' }), false);
});

test('thousands of repositories that are read at once are remembered with a few writes, without those that are refused', async () => {
  const { reads, replica, key } = open();
  const countWrites = async () => Number(/cmdstat_zadd:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
  const before = await countWrites();
  for (let index = 0; index < 2_500; index++) reads.remember({ ...web, path: `shop/web-${index}` });
  reads.forget({ ...web, path: 'shop/web-2499' });
  await waitFor('the entries in Redis', async () => (await redis.zcard(key)) === 2_499);
  assert.equal(await replica().has({ ...web, path: 'shop/web-2499' }), false);
  assert.equal((await countWrites()) - before, 4);
});

test('without Redis, reads of this process count, and nothing rejects', async () => {
  const gone = new Connection(server.url, { lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null });
  gone.on('error', () => undefined);
  const reads = createReadRepositories({ redis: gone, prefix: '{gone}', now: Date.now });
  reads.remember(web);
  assert.equal(await reads.has(web), true);
  assert.equal(await reads.has({ ...web, path: 'other' }), false);
  reads.forget(web);
  assert.equal(await reads.has(web), false);
});
