import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectProducer, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { createDeliveryTimes, readDeliveryTimes } from '../../../src/service/queue/delivery-times.ts';
import { askRedis, startRedis, type Redis } from '../../harness/redis.ts';
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

const now = Date.parse('2026-05-01T12:00:00Z');
const dayMs = 86_400_000;
const calls = async () => Number(/cmdstat_eval:calls=(\d+)/.exec(await askRedis(redis.port, 'INFO commandstats'))?.[1] ?? 0);

test('the last delivery time of each receiver and status is kept, whichever replica noted it', async () => {
  let time = now;
  const [firstReplica, secondReplica] = ['a', 'b'].map(() =>
    createDeliveryTimes({ redis: connection, prefix: '{times}', now: () => time }),
  );
  firstReplica?.note('hub', 202);
  firstReplica?.note('hub', 401);
  await firstReplica?.stop();
  time += 1_000;
  secondReplica?.note('hub', 202);
  secondReplica?.note('ci', 200);
  await secondReplica?.stop();
  const times = await readDeliveryTimes(connection, '{times}', time);
  assert.deepEqual(
    times,
    new Map([
      [
        'hub',
        new Map([
          [202, now + 1_000],
          [401, now],
        ]),
      ],
      ['ci', new Map([[200, now + 1_000]])],
    ]),
  );
  assert.ok((await connection.pttl('{times}:deliveries')) > 29 * dayMs);
});

test('the times of ten thousand refused deliveries are one write to Redis', async () => {
  const before = await calls();
  const times = createDeliveryTimes({ redis: connection, prefix: '{many}', now: () => now });
  for (let index = 0; index < 10_000; index++) times.note('hub', 401);
  await times.stop();
  assert.equal((await calls()) - before, 1);
});

test('foreign entries among the delivery times in Redis are not read', async () => {
  const fields = ['hub 202', String(now - 31 * dayMs), 'hub x', String(now), 'hub 401', 'yesterday', '', '1', 'hub 200', String(now)];
  await connection.hset('{odd}:deliveries', ...fields);
  assert.deepEqual(await readDeliveryTimes(connection, '{odd}', now), new Map([['hub', new Map([[200, now]])]]));
});

test('without Redis, noting a delivery time neither fails nor waits', async () => {
  const unreachableRedis = connectProducer('redis://127.0.0.1:1');
  unreachableRedis.on('error', () => undefined);
  const times = createDeliveryTimes({ redis: unreachableRedis, prefix: '{gone}', now: () => now });
  times.note('hub', 202);
  await times.stop();
  unreachableRedis.disconnect();
});
