/** The guard that lets a rollout that failed for another reason than its image be tried again, after a pause, and not for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retry } from '../../../../src/core/plan/guards/retry.ts';
import { digestOf, policyOf } from '../../model/samples.ts';
import { evaluateGuards, image, type Case } from './context.ts';

const [b, c] = [digestOf('b'), digestOf('c')];
/** Was rolled back from 1.3.0 at 11:55, for the n-th time for another reason than the image. */
const outside = (failures: number, at = '2026-03-02T11:55:00Z') => ({
  image: `${image}:1.2.3`,
  imageOwner: 'image-watcher',
  imageSetAt: '2026-03-02T10:00:00Z',
  lastUpdate: {
    policy: policyOf().uid,
    at,
    trigger: 'Rollback' as const,
    from: `${image}:1.3.0`,
    to: `${image}:1.2.3`,
    failed: b,
    retry: { failures, generation: policyOf().generation, why: '0/3 nodes are available' },
  },
});

const rows: [name: string, given: Case, expected: string][] = [
  ['the pause is not over', { runs: outside(1, '2026-03-02T11:59:30Z') }, 'waits RolloutRetry 2026-03-02T12:00:30.000Z'],
  ['the longer pause is not over', { runs: outside(3) }, 'waits RolloutRetry 2026-03-02T12:20:00.000Z'],
  ['the pause is over', { runs: outside(1) }, 'pass'],
  ['it failed too often', { runs: outside(4) }, 'refused RetriesExhausted'],
  ['it failed too often, and was released', { runs: outside(4), actions: { release: '2026-03-02T11:58:00Z' } }, 'pass'],
  ['another image failed', { runs: outside(4), candidate: { tag: '1.4.0', digest: c } }, 'pass'],
];

for (const [name, given, expected] of rows) {
  test(`the guard retry answers "${expected}" in the case "${name}"`, () => {
    const { problem, blocked, until, changed } = evaluateGuards(given, retry);
    const found = problem === undefined ? [blocked?.kind, blocked?.reason, until] : ['refused', problem.reason];
    assert.equal(found.filter((part) => part !== undefined).join(' ') || 'pass', expected);
    assert.deepEqual(changed, expected === 'pass' ? ['web'] : []);
  });
}
