import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as Client } from 'ioredis';
import { connectProducer, limitCommands } from '../../../src/service/queue/connection.ts';
import { holdUp } from '../../harness/hold-up.ts';
import { startRedisCluster } from '../../harness/redis-cluster.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

let redis: Redis;
let client: Client;
before(async () => {
  redis = await startRedis();
  client = new Client(redis.url);
  await client.ping();
  limitCommands(client, 1);
});
after(async () => {
  client.disconnect();
  await redis.stop();
});

test('an answer of Redis that arrived while this process was suspended counts, however late it is read', async () => {
  const single = client.set('a', '1');
  const together = client.multi().get('a').get('b').exec();
  holdUp(redis.port);
  assert.equal(await single, 'OK');
  assert.deepEqual(await together, [
    [null, '1'],
    [null, null],
  ]);
});

test('each command to a hanging Redis is rejected, and commands succeed again once it recovers', async () => {
  redis.freeze();
  await assert.rejects(client.set('a', '2'), { message: 'Command timed out' });
  await assert.rejects(client.multi().incr('b').exec(), { message: 'Command timed out' });
  redis.thaw();
  const reply = client.get('a');
  holdUp(redis.port);
  assert.equal(await reply, '2');
});

test('each command to a Cluster is rejected in time as well, whichever of its nodes hangs', { timeout: 120_000 }, async (t) => {
  // Nobody may take over from the node that hangs.
  const cluster = await startRedisCluster('{p}', { nodeTimeoutMs: 120_000 });
  const producer = connectProducer({ url: cluster.url, sentinels: [], cluster: true });
  producer.on('error', () => undefined);
  t.after(async () => {
    producer.disconnect();
    await cluster.stop();
  });
  await waitFor('the Cluster to answer', async () => (await producer.set('{p}:a', '1')) === 'OK');
  const owner = await cluster.ownerOf('{p}');
  owner.freeze();
  await assert.rejects(producer.set('{p}:a', '2'), { message: 'Command timed out' });
  await assert.rejects(producer.multi().incr('{p}:b').incr('{p}:c').exec(), { message: 'Command timed out' });
  owner.thaw();
});
