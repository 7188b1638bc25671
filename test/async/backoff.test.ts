import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffMs } from '../../src/async/backoff.ts';

test('between one second and five minutes, whatever the number of failures', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (failures, random) => {
        const pause = backoffMs(failures, () => random);
        assert.ok(Number.isInteger(pause) && pause >= 1_000 && pause <= 300_000, String(pause));
      },
    ),
  );
});

test('the ceiling doubles up to five minutes, and the jitter is full', () => {
  const longest = [1, 2, 3, 8, 9, 100].map((failures) => backoffMs(failures, () => 1));
  assert.deepEqual(longest, [2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
  assert.equal(
    backoffMs(100, () => 0),
    1_000,
  );
});

test('a ceiling of their own for those who have one, but never less than a second', () => {
  const longest = [10, 2_500, 3_600_000].map((capMs) => backoffMs(30, () => 1, capMs));
  assert.deepEqual(longest, [1_000, 2_500, 3_600_000]);
});
