import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffMs, jobBackoff, requestBackoff, parseRetryAfter } from '../../../src/core/async/backoff.ts';

test('a job is retried after one second to five minutes, whatever the number of failures', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (failures, random) => {
        const pause = backoffMs(failures, () => random, jobBackoff);
        assert.ok(Number.isInteger(pause) && pause >= 1_000 && pause <= 300_000, String(pause));
      },
    ),
  );
});

test("the ceiling of a job's backoff doubles up to five minutes, with full jitter", () => {
  const longest = [1, 2, 3, 8, 9, 100].map((failures) => backoffMs(failures, () => 1, jobBackoff));
  assert.deepEqual(longest, [2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
  assert.equal(
    backoffMs(100, () => 0, jobBackoff),
    1_000,
  );
});

test('a job with a ceiling of its own uses it, but never waits less than a second', () => {
  const longest = [10, 2_500, 3_600_000].map((capMs) => backoffMs(30, () => 1, { ...jobBackoff, maxMs: capMs }));
  assert.deepEqual(longest, [1_000, 2_500, 3_600_000]);
});

test('the backoff of requests doubles from 100 ms up to 30 s, and is at least half of that', () => {
  const most = [0, 1, 2, 5, 8, 9, 1000].map((retry) => backoffMs(retry, () => 1, requestBackoff));
  assert.deepEqual(most, [100, 200, 400, 3200, 25_600, 30_000, 30_000]);
  const least = [0, 1, 1000].map((retry) => backoffMs(retry, () => 0, requestBackoff));
  assert.deepEqual(least, [50, 100, 15_000]);
});

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

const table: [name: string, header: string | string[] | undefined, expectedSeconds: number | undefined][] = [
  ['no header', undefined, undefined],
  ['seconds', '120', 120],
  ['zero', '0', 0],
  ['at most a day', '864000', 86_400],
  ['a date', 'Thu, 01 Jan 2026 12:05:00 GMT', 300],
  ['a date in the past', 'Thu, 01 Jan 2026 11:05:00 GMT', 0],
  ['a date far away', 'Fri, 01 Jan 2027 12:00:00 GMT', 86_400],
  ['the first of several', ['7', '9'], 7],
  ['negative', '-5', undefined],
  ['rubbish', 'soon', undefined],
  ['digits without end', '9'.repeat(400), 86_400],
];

for (const [name, header, seconds] of table) {
  test(`Retry-After is parsed in the case "${name}"`, () =>
    assert.equal(parseRetryAfter(header, now), seconds === undefined ? undefined : seconds * 1_000));
}
