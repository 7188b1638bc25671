/** Notices of missing webhooks in a real Redis: none is lost, and none is stored twice. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { reportUnannounced } from '../../../src/service/poll/report-unannounced.ts';
import { connectWorker, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { createWorkQueues } from '../../../src/service/queue/producer.ts';
import { createEventReader } from '../../../src/service/queue/read-events.ts';
import { createUnannouncedFinds } from '../../../src/service/queue/unannounced-finds.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { policyOf, web } from '../../core/model/samples.ts';
import { createWorld, startTime } from '../reconcile/world.ts';

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

let worlds = 0;
/** Polls that store their notices in a queue of Redis. */
function start() {
  const prefix = `{notices-${++worlds}}`;
  const access = { redis: connection, prefix, onError: () => undefined };
  const queues = createWorkQueues(access, Date.now);
  const world = createWorld();
  const finds = createUnannouncedFinds(connection, prefix, createEventReader(access));
  const notify: typeof world.ports.poll.notify = (_, { notice, identity }) =>
    queues.addNoticeJobs([{ schema: 1, target: 'ops', identity, notice, receivedAt: notice.at }]);
  const status = { observedGeneration: 1, latest: { tag: '1.0.0', selectedAt: new Date(startTime).toISOString() } };
  const find = (tag: string, { dies = false } = {}) => {
    const add: typeof finds.add = (...counted) => (dies ? Promise.reject(new Error('killed')) : finds.add(...counted));
    const poll = { ...world.ports.poll, finds: { ...finds, add }, notify };
    return reportUnannounced([{ policy: policyOf({ status }), candidate: { tag } }], web, { ...world.ports, poll });
  };
  return { find, countStored: () => connection.llen(`${prefix}:notice:wait`) };
}

test('a process that dies before it has counted an image has stored the notice, and the repeated poll stores no other', async () => {
  const { find, countStored } = start();
  for (const tag of ['1.1.0', '1.2.0']) await find(tag);
  assert.equal(await countStored(), 0);
  await assert.rejects(find('1.3.0', { dies: true }), /killed/);
  assert.equal(await countStored(), 1);
  for (const tag of ['1.3.0', '1.3.0', '1.4.0']) await find(tag);
  assert.equal(await countStored(), 1);
  for (const tag of ['1.5.0', '1.6.0']) await find(tag);
  assert.equal(await countStored(), 2);
});

test('polls that find images at the same time lose no notice', async () => {
  const { find, countStored } = start();
  await find('1.1.0');
  await Promise.all([find('1.2.0'), find('1.3.0')]);
  assert.equal(await countStored(), 1);
});
