import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAge } from '../../../src/service/command-line/output.ts';

const [second, minute, hour, day, year] = [1, 60, 3_600, 86_400, 365 * 86_400];

test('an age has the units that kubectl chooses, and at most two', () => {
  // As in the tests of k8s.io/apimachinery/pkg/util/duration.
  for (const [seconds, shown] of [
    [-5 * second, '0s'],
    [0.9 * second, '0s'],
    [70 * second, '70s'],
    [2 * minute, '2m'],
    [2 * minute + 30 * second, '2m30s'],
    [10 * minute + 30 * second, '10m'],
    [70 * minute, '70m'],
    [3 * hour, '3h'],
    [3 * hour + 10 * minute, '3h10m'],
    [47 * hour + 59 * minute, '47h'],
    [2 * day, '2d'],
    [3 * day + 12 * hour, '3d12h'],
    [9 * day + 12 * hour, '9d'],
    [2 * year - hour, '729d'],
    [2 * year + 10 * day, '2y10d'],
    [3 * year, '3y'],
    [8 * year + 10 * day, '8y'],
  ] as const)
    assert.equal(formatAge(new Date(0), new Date(seconds * 1_000)), shown);
  assert.equal(formatAge(new Date('never'), new Date(0)), '-');
});
