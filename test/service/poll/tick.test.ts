import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tickMs } from '../../../src/service/poll/poll-schedule.ts';
import { createTick, type PollQueue, type ScheduledPoll, type TickPorts } from '../../../src/service/poll/tick.ts';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import { createWorkQueues } from '../../../src/service/queue/producer.ts';
import { policyOf, specOf, web } from '../../core/model/samples.ts';
import { startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

const hour = 3_600_000;
const startTime = Date.parse('2026-03-01T12:00:00Z');

/** Redis and a clock; `count` policies of as many repositories. */
function createClock(count: number, overrides: Partial<PollQueue> = {}) {
  const state: { now: number; last: number | undefined } = { now: startTime, last: undefined };
  const added: { path: string; at: number; delayMs: number }[] = [];
  const policies = Array.from({ length: count }, (_, index) =>
    policyOf({ name: `web-${index}`, spec: specOf({ repository: { ...web, path: `shop/web-${index}` } }) }),
  );
  const ports: TickPorts = {
    policies: { all: () => policies },
    registry: { sourceOf: (_, { repository }) => repository },
    queues: {
      addPolls: async (polls: readonly ScheduledPoll[]) =>
        void added.push(...polls.map(({ job, delayMs }) => ({ path: job.repository.path, at: state.now, delayMs }))),
      readLastTick: async () => state.last,
      writeLastTick: async (at) => void (state.last = at),
      readClock: async () => state.now,
      ...overrides,
    },
  };
  let tick = createTick(ports);
  return {
    state,
    added,
    ports,
    /** Another process takes over. */
    restart: () => void (tick = createTick(ports)),
    tick: () => tick(),
    async run(forMs: number) {
      for (const end = state.now + forMs; state.now < end;) {
        state.now += tickMs;
        await tick();
      }
    },
  };
}

const countByPath = (added: readonly { path: string }[]) => {
  const counts = new Map<string, number>();
  for (const { path } of added) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
};

test('every repository is polled once per interval, across restarts', async () => {
  const clock = createClock(50);
  await clock.tick();
  clock.added.length = 0;
  for (let quarter = 0; quarter < 8; quarter++) {
    clock.restart();
    await clock.run(hour / 4);
  }
  assert.deepEqual(
    [...countByPath(clock.added).values()],
    Array.from({ length: 50 }, () => 2),
  );
});

test('after Redis was wiped, only polls that were due in the last moments happen, and then each once per interval', async () => {
  const clock = createClock(200);
  await clock.run(hour);
  clock.added.length = 0;
  clock.state.last = undefined;
  await clock.tick();
  assert.ok(clock.added.length < 10, `${clock.added.length} at once`);
  clock.added.length = 0;
  await clock.run(hour);
  assert.deepEqual(
    [...countByPath(clock.added).values()],
    Array.from({ length: 200 }, () => 1),
  );
});

test('after an outage each missed poll happens once, spread over time', async () => {
  const clock = createClock(200);
  await clock.tick();
  clock.added.length = 0;
  clock.state.now += 50 * hour;
  await clock.tick();
  assert.deepEqual(
    [...countByPath(clock.added).values()],
    Array.from({ length: 200 }, () => 1),
  );
  const atOnce = clock.added.filter(({ delayMs }) => delayMs < 10_000).length;
  assert.ok(atOnce < 20, `${atOnce} in the first ten seconds`);
});

test('clock jumps and lost ticks cause no double poll within a tick, and all polls happen once the clock runs again', async () => {
  const jump = fc.record({
    ms: fc.oneof(fc.integer({ min: -10 * hour, max: 10 * hour }), fc.constantFrom(0, tickMs, -tickMs, 60_000, -60_000)),
    what: fc.constantFrom('jump', 'restart', 'wipe'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(jump, { maxLength: 8 }), async (jumps) => {
      const clock = createClock(20);
      for (const { ms, what } of jumps) {
        const before = clock.added.length;
        clock.state.now += ms;
        if (what === 'restart') clock.restart();
        if (what === 'wipe') clock.state.last = undefined;
        await clock.tick();
        const counts = [...countByPath(clock.added.slice(before)).values()];
        assert.ok(counts.every((count) => count === 1));
      }
      clock.added.length = 0;
      // Clocks of replicas may differ by a minute.
      await clock.run(hour + 60_000 + tickMs);
      const counts = [...countByPath(clock.added).values()];
      assert.equal(counts.length, 20);
      assert.ok(counts.every((count) => count <= 2));
    }),
    { numRuns: 50 },
  );
});

test('replicas whose clocks differ by less than a minute do not poll for the same time twice', async () => {
  const clock = createClock(100);
  await clock.tick();
  clock.added.length = 0;
  for (let done = 0; done < hour - 30_000; done += tickMs) {
    clock.state.now += tickMs;
    const skew = (done / tickMs) % 2 === 0 ? 30_000 : 0;
    clock.state.now += skew;
    await clock.tick();
    clock.state.now -= skew;
  }
  assert.ok([...countByPath(clock.added).values()].every((count) => count === 1));
});

test('a tick whose polls were not stored is repeated', async () => {
  let isAway = false;
  const kept = createClock(1);
  const { addPolls } = kept.ports.queues;
  const away = new Error('Redis is away');
  const clock = createClock(1, { addPolls: (polls) => (isAway ? Promise.reject(away) : addPolls(polls)) });
  await clock.tick();
  clock.state.now += hour;
  isAway = true;
  await assert.rejects(clock.tick(), away);
  isAway = false;
  await clock.tick();
  assert.equal(kept.added.length, 1);
});

test('with replicas whose clocks differ by 90 s, only the clock of Redis decides what is due', async (t) => {
  const redis = await startRedis();
  const connection = connectWorker(redis.url);
  t.after(async () => {
    connection.disconnect();
    await redis.stop();
  });
  await waitFor('Redis', () => connection.status === 'ready');
  const queues = createWorkQueues({ redis: connection, prefix: '{ticks}', onError: () => undefined }, Date.now);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const { ports, added } = createClock(0);
  const minute = specOf({ pollIntervalMs: 60_000 });
  const policies = Array.from({ length: 20 }, (_, index) =>
    policyOf({ spec: { ...minute, repository: { ...web, path: `shop/web-${index}` } } }),
  );
  const { readLastTick, writeLastTick, readClock } = queues;
  const tick = createTick({
    ...ports,
    policies: { all: () => policies },
    queues: { ...ports.queues, readLastTick, writeLastTick, readClock },
  });
  const present = Date.now();
  for (let turn = 0; turn < 10; turn++) {
    t.mock.timers.setTime(present + (turn % 2 === 0 ? 0 : 90_000));
    await tick();
  }
  assert.ok([...countByPath(added).values()].every((count) => count === 1));
});
