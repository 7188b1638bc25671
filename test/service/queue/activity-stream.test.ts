/** The record of activity in a real Redis. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { IdentifiedActivity } from '../../../src/core/model/activity.ts';
import { createActivityWriter, forgetOldestActivities, maxActivities, readActivities } from '../../../src/service/queue/activity-stream.ts';
import { connectProducer, type RedisConnection } from '../../../src/service/queue/connection.ts';
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

const approval = (name: string): IdentifiedActivity => ({
  id: `approve-${name}`,
  activity: {
    type: 'action',
    at: '2026-11-28T12:00:00.000Z',
    action: 'approve',
    subject: { kind: 'ImagePolicy', namespace: 'shop', name },
    user: 'ada',
  },
});
const namesIn = async (prefix: string, of: { before?: string; count: number }) => {
  const { found, last } = await readActivities(connection, prefix, of);
  return { names: found.map(({ activity }) => activity.subject.name), last };
};

test('an activity that several replicas see is recorded once, and activities are read newest first, page by page', async () => {
  const [one, two] = ['a', 'b'].map(() => createActivityWriter({ redis: connection, prefix: '{once}' }, Date.now));
  for (const name of ['web', 'api', 'db']) await Promise.all([one?.(approval(name)), two?.(approval(name)), one?.(approval(name))]);
  const first = await namesIn('{once}', { count: 2 });
  assert.deepEqual(first.names, ['db', 'api']);
  assert.deepEqual(await namesIn('{once}', { before: first.last ?? '', count: 2 }), { names: ['web'], last: undefined });
  // The same approval may be given again after it was taken back.
  const lifeMs = await connection.pttl('{once}:activity:approve-web');
  assert.ok(lifeMs > 0 && lifeMs <= 180_000);
});

test('foreign entries of the activity stream are skipped, and the others are read', async () => {
  const write = createActivityWriter({ redis: connection, prefix: '{odd}' }, Date.now);
  await write(approval('web'));
  for (const json of ['', '{', '{"type":"action"}', JSON.stringify({ ...approval('x').activity, action: 'delete' })])
    await connection.xadd('{odd}:activity', '*', 'activity', json);
  await connection.xadd('{odd}:activity', '*', 'other', 'field');
  assert.deepEqual((await namesIn('{odd}', { count: 100 })).names, ['web']);
});

test('activities older than 90 days are removed by the next write, and a full Redis keeps the newest', async () => {
  const old = Date.now() - 91 * 24 * 3_600_000;
  // Redis removes whole nodes of a stream, of 100 entries each.
  for (let index = 0; index < 200; index++)
    await connection.xadd('{old}:activity', `${old + index}-0`, 'activity', JSON.stringify(approval(`old-${index}`).activity));
  const write = createActivityWriter({ redis: connection, prefix: '{old}' }, Date.now);
  await write(approval('new'));
  assert.ok((await connection.xlen('{old}:activity')) < 102);
  await forgetOldestActivities(connection, '{old}', (await connection.xlen('{old}:activity')) - 1);
  assert.deepEqual((await namesIn('{old}', { count: 100 })).names, ['new']);
  assert.ok(maxActivities > 10_000);
});
