import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordRollbacks } from '../../../src/core/rollout/record-results.ts';
import { progressOf } from '../../../src/core/rollout/count-rollouts.ts';
import { withRollouts } from '../../../src/core/status/with-rollouts.ts';
import { addRejection } from '../../../src/core/plan/rejections.ts';
import { rollbacksOf } from '../../../src/core/rollout/automatic-rollback.ts';
import { digestOf, noSources, policyOf } from '../model/samples.ts';
import {
  afterChange,
  changedAt,
  changedWorkload,
  entryOf,
  rolledOut,
  rolloutOwnerOf,
  stuckRollout,
  snapshotFrom,
  watchedSpec,
} from '../rollout/rollout-samples.ts';

const digest = digestOf('b');
const later = afterChange(60);

test('a rejected image is not shown as waiting, even if a replica that lags behind has written that it waits', () => {
  const waiting = { tag: '1.3.0', digest, until: '2026-03-01T12:10:00Z', reason: 'WavePending' };
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Progressing', message: '', lastTransitionTime: changedAt } as const];
  const failed = {
    latest: { tag: '1.3.0', digest, selectedAt: changedAt },
    history: [entryOf({ result: 'Failed' })],
    rejected: addRejection([], { tag: '1.3.0', digest, reason: 'CrashLoop', at: changedAt }),
  };
  const back = recordRollbacks(failed, rollbacksOf(rolloutOwnerOf(failed), changedWorkload(stuckRollout), noSources), later);
  const policy = policyOf({ spec: watchedSpec(), status: { ...back, observedGeneration: 1, conditions, waiting } });
  const next = withRollouts(policy, progressOf(policy, snapshotFrom(policy, [changedWorkload(rolledOut, {}, '1.2.3')])), later);
  assert.equal(next?.waiting, undefined);
  assert.deepEqual(
    next?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
    ['Ready=False RejectedDigest', 'Stalled=True RejectedDigest'],
  );
});

test('an image that was rolled back and then released goes on waiting for its next wave', () => {
  const waiting = { tag: '1.3.0', digest, until: '2026-03-01T12:10:00Z', reason: 'WavePending' };
  const conditions = [{ type: 'Ready', status: 'False', reason: 'WavePending', message: '', lastTransitionTime: changedAt } as const];
  const rejected = addRejection([], { tag: '1.3.0', digest, reason: 'RollbackRequested', at: changedAt });
  for (const [release, expected] of [
    [afterChange(1).toISOString(), 'WavePending'],
    [afterChange(-1).toISOString(), undefined],
  ] as const) {
    const status = { latest: { tag: '1.3.0', digest, selectedAt: changedAt }, history: [entryOf()], rejected, conditions, waiting };
    const policy = policyOf({ spec: watchedSpec(), status: { ...status, observedGeneration: 1 }, actions: { release } });
    const next = withRollouts(policy, progressOf(policy, snapshotFrom(policy, [changedWorkload(rolledOut)])), later);
    assert.equal(next?.waiting?.reason, expected, release);
  }
});
