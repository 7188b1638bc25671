import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateFrom } from '../../../src/core/model/policy-state.ts';

test('a policy that was resumed is not said to be Ready before it is reconciled', () => {
  const ready = { type: 'Ready', status: 'True', message: '', lastTransitionTime: '2026-03-01T12:00:00Z' } as const;
  assert.equal(stateFrom(true, [{ ...ready, reason: 'Suspended' }]), 'Suspended');
  assert.equal(stateFrom(false, [{ ...ready, reason: 'Suspended' }]), 'Unknown');
  assert.equal(stateFrom(false, [{ ...ready, reason: 'UpToDate' }]), 'Ready');
});
