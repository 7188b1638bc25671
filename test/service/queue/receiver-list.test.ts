import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectProducer, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { publishReceivers, readReceivers } from '../../../src/service/queue/receiver-list.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

let redis: Redis;
let connection: RedisConnection;
before(async () => {
  redis = await startRedis();
  connection = connectProducer(redis.url);
  connection.on('error', () => undefined);
  await waitFor('the connection', () => connection.ping());
});
after(async () => {
  connection.disconnect();
  await redis.stop();
});

const hub = { name: 'hub', provider: 'docker-hub' };

test('workers read names and providers of receivers, and nothing else of them', async () => {
  assert.deepEqual(await readReceivers(connection, '{list}'), []);
  const withSecret = { ...hub, secrets: [{ env: 'HUB_SECRET' }] };
  const published = publishReceivers(connection, '{list}', [withSecret]);
  await published.tried;
  await published.stop();
  assert.deepEqual(await readReceivers(connection, '{list}'), [hub]);
  assert.ok(!(await connection.get('{list}:receivers'))?.includes('HUB_SECRET'));
  const left = await connection.pttl('{list}:receivers');
  assert.ok(left > 0 && left <= 900_000, 'it ends without receivers');
});

for (const other of ['no JSON', '{}', '[{"name":""}]', `[{"name":"${'n'.repeat(64)}","provider":"harbor"}]`, 'null'])
  test(`a foreign list of receivers in Redis is not read: ${other.slice(0, 20)}`, async () => {
    await connection.set('{odd}:receivers', other);
    assert.deepEqual(await readReceivers(connection, '{odd}'), []);
  });
