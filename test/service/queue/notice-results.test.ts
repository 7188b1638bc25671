import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectProducer, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { createNoticeResults } from '../../../src/service/queue/notice-results.ts';
import { publishProcess, readProcesses } from '../../../src/service/queue/process-list.ts';
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

const now = Date.parse('2026-05-01T12:00:00Z');

test('the last success and the last failure of each notification target are known, and expire', async () => {
  const results = createNoticeResults(connection, '{a}');
  await results.record('ops', now, undefined);
  await results.record('ops', now + 1, `answered 500 ${'x'.repeat(10_000)}`);
  await results.record('shop/chat', now + 2, undefined);
  const [ops, chat, none] = await results.read(['ops', 'shop/chat', 'other']);
  assert.deepEqual([ops?.acceptedAt, ops?.failedAt, ops?.why?.length], [now, now + 1, 500]);
  assert.deepEqual([chat, none], [{ acceptedAt: now + 2 }, {}]);
  assert.ok((await connection.pttl('{a}:notices:results:ops')) > 0);
});

test('foreign values among the results of notifications are not read', async () => {
  await connection.hset('{b}:notices:results:ops', { acceptedAt: 'soon', failedAt: '-1', why: 'because' });
  assert.deepEqual(await createNoticeResults(connection, '{b}').read(['ops']), [{}]);
});

test('a process is listed only while it runs, and foreign entries of the list are not shown', async () => {
  const process = (name: string) => ({ name, version: '1.0.0', roles: ['work'], startedAt: '2026-05-01T12:00:00.000Z' });
  const [first, second] = ['work-2', 'work-1'].map((name) => publishProcess(connection, '{c}', process(name)));
  await Promise.all([first?.tried, second?.tried]);
  await connection.zadd('{c}:processes', Date.now() + 60_000, 'not JSON', Date.now() + 60_000, '{"name":"without the rest"}');
  const names = async (at = Date.now()) => (await readProcesses(connection, '{c}', at)).map(({ name }) => name);
  assert.deepEqual(await names(), ['work-1', 'work-2']);
  assert.deepEqual(await names(Date.now() + 120_000), [], 'a process that was killed is not listed for long');
  await first?.stop();
  assert.deepEqual(await names(), ['work-1']);
  await second?.stop();
});
