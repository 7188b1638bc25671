import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis as Connection } from 'ioredis';
import { createSharedSecret } from '../../../src/service/queue/shared-secret.ts';
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

test('a secret is the same for all replicas, and differs between installations and between uses', async () => {
  const replicas = Array.from({ length: 4 }, () => createSharedSecret(redis, '{one}', 'check'));
  const secrets = await Promise.all(replicas.map((read) => read()));
  assert.equal(new Set(secrets).size, 1);
  assert.match(secrets[0] ?? '', /^[0-9a-f]{64}$/);
  assert.equal(await redis.get('{one}:check-secret'), secrets[0]);
  assert.notEqual(await createSharedSecret(redis, '{two}', 'check')(), secrets[0]);
  assert.notEqual(await createSharedSecret(redis, '{one}', 'delivery')(), secrets[0]);
});
