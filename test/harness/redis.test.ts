import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as Client } from 'ioredis';
import { type Redis, startRedis } from './redis.ts';

let redis: Redis;
before(async () => {
  redis = await startRedis();
});
after(() => redis.stop());

test('data in the test Redis survives kill -9 and a restart on the same port', async () => {
  await withClient((client) => client.set('fruit', 'pear'));
  const { url, pid } = redis;
  await redis.kill9();
  await redis.restart();
  assert.equal(redis.url, url);
  assert.notEqual(redis.pid, pid);
  assert.equal(await withClient((client) => client.get('fruit')), 'pear');
});

test('a frozen test Redis answers nothing, and continues after the thaw', async () => {
  redis.freeze();
  await assert.rejects(
    withClient((client) => client.ping(), { commandTimeout: 200 }),
    /timed out/i,
  );
  redis.thaw();
  assert.equal(await withClient((client) => client.ping()), 'PONG');
});

async function withClient<T>(work: (client: Client) => Promise<T>, options = {}): Promise<T> {
  const client = new Client(redis.url, options);
  client.on('error', () => undefined);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}
