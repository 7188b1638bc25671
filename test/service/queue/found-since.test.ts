import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectProducer, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { createNoteFound } from '../../../src/service/queue/found-since.ts';
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

const noon = Date.parse('2026-05-01T12:00:00Z');
const minuteMs = 60_000;

/** Two processes with one clock, which find something. */
function startProcesses(prefix: string) {
  let now = noon;
  const start = () => createNoteFound(connection, prefix, () => now);
  return {
    start,
    wait: (minutes: number) => (now += minutes * minuteMs),
    /** Since how many minutes after noon each is found. */
    find: async (note: ReturnType<typeof start>, ...ids: readonly string[]) =>
      Object.fromEntries([...(await note(new Map(ids.map((id) => [id, now]))))].map(([id, since]) => [id, (since - noon) / minuteMs])),
  };
}

test('a finding keeps its time across restarts and replicas, and starts anew after a report without it', async () => {
  const { start, wait, find } = startProcesses('{lasts}');
  assert.deepEqual(await find(start(), 'disk', 'clock'), { disk: 0, clock: 0 });
  wait(30);
  assert.deepEqual(await find(start(), 'disk', 'clock'), { disk: 0, clock: 0 }, 'after a restart');
  wait(1);
  assert.deepEqual(await find(start(), 'disk'), { disk: 0 }, 'of another replica, which does not find everything');
  assert.deepEqual(await find(start(), 'disk', 'clock'), { disk: 0, clock: 0 });
  wait(3);
  await find(start(), 'disk');
  assert.deepEqual(await find(start(), 'disk', 'clock'), { disk: 0, clock: 34 });
  assert.ok((await connection.pttl('{lasts}:found')) > 0);
});

test('a time that a process noted while Redis was away counts, and foreign entries in Redis are bounded', async () => {
  const { start, wait, find } = startProcesses('{bounded}');
  wait(10);
  const note = start();
  const since = await note(new Map([['redis', noon]]));
  assert.equal(since.get('redis'), noon);
  await connection.hset('{bounded}:found', 'disk', 'nonsense', 'clock', `${noon * 2} 1`);
  assert.deepEqual(await find(note, 'disk', 'clock'), { disk: 10, clock: 10 });
  await connection.hset(
    '{bounded}:found',
    ...Array.from({ length: 1_000 }, (_, index) => [`x${index}`, `${noon} ${noon + 10 * minuteMs}`]).flat(),
  );
  assert.equal((await note(new Map(Array.from({ length: 300 }, (_, index) => [`y${index}`, noon])))).size, 200);
  assert.equal(await connection.hlen('{bounded}:found'), 200);
  assert.equal((await note(new Map([['z'.repeat(513), noon]]))).size, 0);
});
