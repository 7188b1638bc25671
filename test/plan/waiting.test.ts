import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeWaiting, nextWaiting, type PlacedWaiting } from '../../src/plan/waiting.ts';
import { digestOf } from '../model/samples.ts';

const until = '2026-03-01T12:30:00Z';
const a: PlacedWaiting = { tag: '1.4.0', digest: digestOf('a'), until, reason: 'MinAge' };
const b: PlacedWaiting = { ...a, tag: '1.5.0', digest: digestOf('b') };
const throttled = { until, reason: 'RegistryThrottled' };

test('a look that did not ask leaves the place, and ends what a job waited for', () => {
  assert.deepEqual(nextWaiting(a, undefined), a);
  assert.equal(nextWaiting(throttled, undefined), undefined);
});

test('a look decides about what it saw', () => {
  assert.equal(nextWaiting(a, { seen: a }), undefined);
  assert.deepEqual(nextWaiting(a, { seen: a, next: b }), b);
  assert.deepEqual(nextWaiting(undefined, { next: b }), b);
  assert.deepEqual(nextWaiting(throttled, { next: b }), b);
});

test('who took the place meanwhile keeps it', () => {
  assert.deepEqual(nextWaiting(a, {}), a);
  assert.deepEqual(nextWaiting(a, { next: b }), a);
  assert.deepEqual(nextWaiting(a, { seen: { ...a, until: '2026-03-01T12:00:00Z' } }), a);
});

test('says what waits, until when and why', () => {
  assert.equal(describeWaiting(a), '1.4.0 waits until 2026-03-01T12:30:00Z, when it is as old as spec.minAge asks for');
});
