import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { connectProducer, connectWorker } from '../../../src/service/queue/connection.ts';
import { createRegistrySlots } from '../../../src/service/queue/shared-limits.ts';
import { HostLimits } from '../../../src/service/registry/host-limits.ts';
import type { SharedSlots } from '../../../src/service/registry/shared-slots.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

let redis: Redis;
before(async () => (redis = await startRedis()));
after(() => redis.stop());

const times = { lifeMs: 3_600_000, maxAheadMs: 1_000 };
const answered = { kind: 'answer', status: 200, headers: {}, subject: 'a', account: undefined, isPull: false } as const;

async function connect(t: TestContext, open = connectWorker) {
  const connection = open(redis.url);
  t.after(() => connection.disconnect());
  connection.on('error', () => undefined);
  await waitFor('the connection', () => connection.status === 'ready');
  return connection;
}

/** A replica that asks for shared turns, and counts how often. */
async function startReplica(t: TestContext, settings: { concurrency?: number; requestsPerSecond?: number }, open = connectWorker) {
  const turns = createRegistrySlots(await connect(t, open), '{p}');
  const replica = { asked: 0 };
  const shared: SharedSlots = {
    take(...parameters) {
      replica.asked++;
      return turns.take(...parameters);
    },
    release: turns.release,
  };
  const limits = new HostLimits({
    settings: (host) => (host.startsWith('named') ? { host, insecure: false, ...settings } : undefined),
    clock: { now: Date.now, random: () => 0 },
    timeoutMs: 3_600_000,
    shared,
  });
  return { replica, enter: (host: string, signal?: AbortSignal) => limits.acquire({ host, what: 'HEAD', signal }) };
}

test('no more registry slots than allowed are held at once, and a slot that is not released expires', async (t) => {
  const connection = await connect(t);
  const [firstReplica, secondReplica] = [connection, await connect(t)].map((connection) => createRegistrySlots(connection, '{p}'));
  assert.ok(firstReplica && secondReplica);
  const limits = { concurrency: 2 };
  assert.deepEqual(await firstReplica.take('h', 'a', limits, times), { kind: 'start', waitMs: 0 });
  assert.deepEqual(await secondReplica.take('h', 'b', limits, times), { kind: 'start', waitMs: 0 });
  assert.equal((await firstReplica.take('h', 'c', limits, times)).kind, 'full');
  assert.equal((await secondReplica.take('other', 'c', limits, times)).kind, 'start');
  await firstReplica.release('h', 'a');
  assert.equal((await secondReplica.take('h', 'c', limits, times)).kind, 'start');
  assert.equal((await secondReplica.take('h', 'd', limits, times)).kind, 'full');
  assert.ok((await connection.pttl('{p}:registry:h:turns')) > 0);

  // A replica that was killed releases nothing.
  assert.equal((await firstReplica.take('killed', 'a', { concurrency: 1 }, { ...times, lifeMs: 50 })).kind, 'start');
  await waitFor('the end of its turn', async () => (await secondReplica.take('killed', 'b', { concurrency: 1 }, times)).kind === 'start');
});

test('registry slots are spaced evenly over all callers, and a caller that would wait for long is told until when', async (t) => {
  const connection = await connect(t);
  const turns = createRegistrySlots(connection, '{p}');
  // One in 1000 s: however slow this machine is, the second one comes too early.
  const slow = { requestsPerSecond: 0.001 };
  assert.deepEqual(await turns.take('slow', 'a', slow, times), { kind: 'start', waitMs: 0 });
  const late = await turns.take('slow', 'b', slow, times);
  assert.equal(late.kind, 'late');
  assert.ok(late.waitMs > 1_000 && late.waitMs <= 1_000_000, String(late.waitMs));
  const ahead = await turns.take('slow', 'b', slow, { ...times, maxAheadMs: 3_000_000 });
  assert.equal(ahead.kind, 'start');
  assert.ok(ahead.waitMs > 0);
  const third = await turns.take('slow', 'c', slow, times);
  assert.ok(third.waitMs > 1_000_000, String(third.waitMs));
  assert.ok((await connection.pttl('{p}:registry:slow:next')) > 0);
});

test('foreign data in Redis does not prevent requests to a registry', async (t) => {
  const connection = await connect(t);
  const turns = createRegistrySlots(connection, '{p}');
  const limits = { concurrency: 1, requestsPerSecond: 1_000 };
  const far = Date.now() + 1e12;
  await connection.zadd('{p}:registry:forged:turns', far, 'forged');
  for (const storedText of [String(far), 'soon', '1e300']) {
    await connection.set('{p}:registry:forged:next', storedText);
    assert.deepEqual(await turns.take('forged', 'a', limits, times), { kind: 'start', waitMs: 0 }, storedText);
    await turns.release('forged', 'a');
  }
});

test('replicas together respect the concurrency of a host, and hosts without a limit cost no command', async (t) => {
  const replicas = [await startReplica(t, { concurrency: 3 }), await startReplica(t, { concurrency: 3 })];
  let running = 0;
  let most = 0;
  let finished = 0;
  const visit = async (index: number): Promise<void> => {
    const left = await replicas[index % 2]?.enter('named.example.com').catch(() => undefined);
    if (!left) {
      await new Promise((resolve) => setImmediate(resolve));
      return visit(index);
    }
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    finished++;
    left.release(answered);
  };
  await Promise.all(Array.from({ length: 60 }, (_, index) => visit(index)));
  assert.deepEqual([finished, running], [60, 0]);
  assert.ok(most <= 3, `${most} at once`);

  const asked = replicas.map(({ replica }) => replica.asked);
  (await replicas[0]?.enter('unnamed.example.com'))?.release(answered);
  assert.deepEqual(
    replicas.map(({ replica }) => replica.asked),
    asked,
  );
});

test('a caller that gives up while all registry slots are taken leaves nothing behind', async (t) => {
  const [firstReplica, secondReplica] = [await startReplica(t, { concurrency: 1 }), await startReplica(t, { concurrency: 1 })];
  const visit = await firstReplica.enter('named-2.example.com');
  const controller = new AbortController();
  const waiting = secondReplica.enter('named-2.example.com', controller.signal);
  await waitFor('the question', () => secondReplica.replica.asked > 0);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, (error: Error) => error.message === 'enough' || error.name === 'WaitError');
  visit.release(answered);
  // The release goes over another connection, and may come after the question.
  (await waitFor('a turn', () => secondReplica.enter('named-2.example.com'))).release(answered);
});

test('when Redis hangs or is down, the registry limits of each replica still apply', async (t) => {
  const { enter, replica } = await startReplica(t, { concurrency: 1 }, connectProducer);
  redis.freeze();
  const first = await enter('named-3.example.com');
  const second = enter('named-3.example.com');
  assert.equal(replica.asked, 1);
  first.release(answered);
  (await second).release(answered);
  redis.thaw();
  await redis.stop();
  for (let i = 0; i < 20; i++) (await enter('named-3.example.com')).release(answered);
});
