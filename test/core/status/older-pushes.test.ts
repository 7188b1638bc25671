/** A push of an older image than the selected one says nothing about that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextStatus } from '../../../src/core/status/next-status.ts';
import type { Outcome } from '../../../src/core/plan/outcome.ts';
import { policyOf } from '../model/samples.ts';
import {
  cause,
  conditionLines,
  olderThanRunningOutcome,
  oneHourLater,
  pendingCandidate,
  stalledOutcome,
  statusAfter,
  throttledPostponement,
  unchangedOutcome,
  updatedOutcome,
  writtenStatusAfter,
} from './outcomes.ts';

test('a push of an older tag does not clear the stalled condition of the selected image', () => {
  const before = writtenStatusAfter({}, { ...stalledOutcome, reason: 'NoConsent' });
  const pushed = (result: Outcome, status = before) =>
    nextStatus(policyOf({ generation: 2, status }), result, { cause: { ...cause, isHinted: true }, now: oneHourLater });
  assert.deepEqual(conditionLines(pushed(olderThanRunningOutcome)), ['Ready=False NoConsent', 'Stalled=True NoConsent']);
  assert.deepEqual(conditionLines(pushed(unchangedOutcome)), ['Ready=True UpToDate']);
  assert.deepEqual(conditionLines(statusAfter(before, olderThanRunningOutcome)), ['Ready=True UpToDate'], 'all tags were looked at');
  const throttled = writtenStatusAfter({}, throttledPostponement);
  const { waiting: kept, conditions = [] } = pushed(olderThanRunningOutcome, throttled) ?? {};
  assert.deepEqual([kept, conditions], [throttled.waiting, throttled.conditions]);
  assert.equal(pushed({ ...olderThanRunningOutcome, tag: '1.3.0' }, throttled)?.waiting, undefined, 'its own wait is over');
  assert.equal(
    pushed({ ...olderThanRunningOutcome, pending: { seen: pendingCandidate } }, { ...before, waiting: pendingCandidate })?.waiting,
    undefined,
    'it was looked at',
  );
});

test('a problem with an older tag that was pushed is not shown as one of the selected image', () => {
  const latest = { tag: '1.4.0', selectedAt: '2026-03-01T11:00:00.000Z' };
  const before = { ...writtenStatusAfter({}, updatedOutcome), latest };
  const { selection: _, ...rejected } = { ...stalledOutcome, reason: 'RejectedDigest', tag: '1.3.0' } as const;
  const pushed = (result: Outcome) =>
    nextStatus(policyOf({ generation: 2, status: before }), result, { cause: { ...cause, isHinted: true }, now: oneHourLater });
  assert.equal(pushed(rejected), undefined);
  assert.deepEqual(conditionLines(pushed({ ...rejected, tag: '1.4.0' })), ['Ready=False RejectedDigest', 'Stalled=True RejectedDigest']);
});
