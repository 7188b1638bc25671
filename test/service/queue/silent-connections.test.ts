/** What a crash of Redis' node leaves behind: connections whose end nobody tells. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { connectProducer, connectWorker } from '../../../src/service/queue/connection.ts';
import { monitorRedis } from '../../../src/service/queue/redis-health.ts';
import { startRedis } from '../../harness/redis.ts';
import { startSilentRelay } from '../../harness/silent-relay.ts';
import { waitFor } from '../../harness/wait-for.ts';

async function start(t: TestContext, open: typeof connectProducer) {
  const redis = await startRedis();
  const relay = await startSilentRelay(redis.port);
  const connection = open(`redis://127.0.0.1:${relay.port}`);
  connection.on('error', () => undefined);
  t.after(async () => {
    connection.disconnect();
    relay.stop();
    await redis.stop();
  });
  return { relay, connection };
}

test('a connection to Redis that died silently is replaced', async (t) => {
  const { relay, connection } = await start(t, connectProducer);
  const reported: boolean[] = [];
  const monitor = monitorRedis(connection, '{p}', ({ reachable }) => reported.push(reachable), 100);
  t.after(() => monitor.stop());
  await waitFor('Redis to answer', () => monitor.health().reachable);
  relay.swallow();
  await waitFor('the silence to be noticed', () => reported.includes(false, reported.indexOf(true)));
  await waitFor('Redis to answer again', () => monitor.health().reachable);
});

test('a worker waits for an answer of Redis longer than Redis waits for a job, but not for ever', async (t) => {
  const { relay, connection } = await start(t, connectWorker);
  assert.equal(await connection.ping(), 'PONG');
  relay.swallow();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const closed: string[] = [];
  connection.once('close', () => closed.push('connection'));
  const answer = connection.ping();
  t.mock.timers.tick(11_000);
  assert.deepEqual(closed, []);
  t.mock.timers.tick(9_000);
  t.mock.timers.reset();
  assert.equal(await answer, 'PONG');
  assert.deepEqual(closed, ['connection']);
});

test('an idle worker keeps its connection to Redis', async (t) => {
  const { connection } = await start(t, connectWorker);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const closed: string[] = [];
  connection.once('close', () => closed.push('connection'));
  assert.equal(await connection.ping(), 'PONG');
  t.mock.timers.tick(3_600_000);
  assert.equal(await connection.ping(), 'PONG');
  assert.deepEqual(closed, []);
});
