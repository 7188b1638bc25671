import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { accessDelayMs, dueIn, pollSchedule, tickMs } from '../../../src/service/poll/poll-schedule.ts';
import { web } from '../../core/model/samples.ts';

const hour = 3_600_000;
const turn = fc
  .record({
    repository: fc.record({ registry: fc.constantFrom('docker.io', 'ghcr.io'), path: fc.stringMatching(/^[a-z]{1,8}$/) }),
    intervalMs: fc.constantFrom(1_000, 60_000, 300_000, hour, 30 * 24 * hour),
  })
  .map(({ repository, intervalMs }) => pollSchedule(repository, intervalMs));
const start = fc.integer({ min: 0, max: 2_000_000_000_000 });
const manyTurns = Array.from({ length: 1_000 }, (_, index) => pollSchedule({ ...web, path: `shop/web-${index}` }, hour));

/** How many fall into each tenth of a time; all do. */
function assertSpread(times: readonly number[], totalMs: number): void {
  const tenths = Array.from({ length: 10 }, (_, tenth) => times.filter((time) => Math.floor((time / totalMs) * 10) === tenth).length);
  assert.equal(
    tenths.reduce((sum, count) => sum + count),
    times.length,
  );
  for (const count of tenths) assert.ok(count > times.length / 20 && count < times.length / 5, tenths.join(' '));
}

test('a poll is due exactly once in every interval, however the ticks fall', () => {
  fc.assert(
    fc.property(turn, start, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 50 }), (turn, start, parts) => {
      const end = start + turn.intervalMs;
      const ticks = [start, ...parts.map((part) => Math.floor(start + part * turn.intervalMs)).sort((a, b) => a - b), end];
      const turns = ticks.filter((to, index) => dueIn(turn, ticks[index - 1] ?? start, to) !== undefined);
      assert.equal(turns.length, 1);
    }),
    { numRuns: 500 },
  );
});

test('a poll whose tick comes in time does not wait', () => {
  fc.assert(fc.property(turn, start, (turn, start) => assert.ok([0, undefined].includes(dueIn(turn, start, start + 2 * tickMs)))));
});

test('a missed poll, after one interval or many, is made up within a tenth of its interval and an hour at most', () => {
  fc.assert(
    fc.property(turn, start, fc.integer({ min: 1, max: 100 }), (turn, start, intervals) => {
      const delayMs = dueIn(turn, start, start + intervals * turn.intervalMs);
      assert.ok(delayMs !== undefined && Number.isInteger(delayMs) && delayMs >= 0 && delayMs <= Math.min(turn.intervalMs / 10, hour));
    }),
  );
});

test('polls are spread over the interval, and so are missed polls', () => {
  assertSpread(
    manyTurns.map(({ offsetMs }) => offsetMs),
    hour,
  );
  assertSpread(
    manyTurns.map((turn) => dueIn(turn, 0, 8 * hour) ?? NaN),
    hour / 10,
  );
});

test('polls of one repository with many credentials are spread over a tenth of the interval', () => {
  const accesses = Array.from({ length: 1_000 }, (_, index) => `team-${index}/harbor`);
  assertSpread(
    accesses.map((access) => accessDelayMs(access, hour)),
    hour / 10,
  );
  assert.deepEqual([accessDelayMs('', hour), accessDelayMs('shop/harbor', 1)], [0, 0]);
});

test('every replica computes the same schedule for a poll', () => {
  assert.deepEqual(pollSchedule(structuredClone(web), hour), pollSchedule(web, hour));
  assert.notEqual(pollSchedule(web, 60_000).key, pollSchedule(web, hour).key);
});
