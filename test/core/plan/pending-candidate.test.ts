import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeWaiting, nextPending, type PendingCandidate } from '../../../src/core/plan/pending-candidate.ts';
import { digestOf } from '../model/samples.ts';

const until = '2026-03-01T12:30:00Z';
const a: PendingCandidate = { tag: '1.4.0', digest: digestOf('a'), until, reason: 'MinAge' };
const b: PendingCandidate = { ...a, tag: '1.5.0', digest: digestOf('b') };
const throttled = { until, reason: 'RegistryThrottled' };

test('a reconcile for another trigger keeps the pending candidate, and clears the wait of a job', () => {
  assert.deepEqual(nextPending(a, undefined), a);
  assert.equal(nextPending(throttled, undefined), undefined);
});

test('a reconcile decides only about the candidate that it read', () => {
  assert.equal(nextPending(a, { seen: a }), undefined);
  assert.deepEqual(nextPending(a, { seen: a, next: b }), b);
  assert.deepEqual(nextPending(undefined, { next: b }), b);
  assert.deepEqual(nextPending(throttled, { next: b }), b);
});

test('a candidate that became pending during a reconcile stays pending', () => {
  assert.deepEqual(nextPending(a, {}), a);
  assert.deepEqual(nextPending(a, { next: b }), a);
  assert.deepEqual(nextPending(a, { seen: { ...a, until: '2026-03-01T12:00:00Z' } }), a);
});

test('the delay of the image that is selected now replaces the delay of an older image that another replica has written', () => {
  const older: PendingCandidate = { ...a, reason: 'WavePending' };
  const newer: PendingCandidate = { ...b, reason: 'WavePending' };
  assert.deepEqual(nextPending(older, { next: newer }, b), newer);
  assert.deepEqual(nextPending(newer, { next: older }, b), newer);
  assert.deepEqual(nextPending(a, { next: b }, b), a, 'an image that is not old enough begins to wait when the one before is applied');
});

test('the message about a pending candidate says what waits, until when and why', () => {
  assert.equal(describeWaiting(a), '1.4.0 waits until 2026-03-01T12:30:00Z, when it is as old as spec.minAge asks for');
});
