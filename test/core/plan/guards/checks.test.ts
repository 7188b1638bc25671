/** What the guard makes of the verdicts of the checks before a change. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckRecord } from '../../../../src/core/model/check-record.ts';
import { checks as guard } from '../../../../src/core/plan/guards/checks.ts';
import { specOf } from '../../model/samples.ts';
import { begin, checkOf } from '../check-samples.ts';
import { evaluateGuards } from './context.ts';

describe('the guard checks', () => {
  const spec = {
    rollout: { timeoutMs: 600_000, onFailure: 'Rollback', checks: [checkOf(), checkOf({ name: 'smoke', phase: 'after' })] },
  } as const;
  const stateOf = (state: CheckRecord['state'] | undefined, actions = {}) => {
    const status = begin(checkOf());
    const checks = state === undefined ? [] : (status.checks ?? []).map((record) => ({ ...record, state, message: 'so it said' }));
    return evaluateGuards({ spec, status: { checks }, actions }, guard);
  };

  it('lets a change pass only with the verdict of each check before it', () => {
    assert.match(JSON.stringify(stateOf(undefined)), /CheckPending.*waits for the check gate/);
    assert.match(JSON.stringify(stateOf('Running')), /CheckPending/);
    assert.match(JSON.stringify(stateOf('Failed')), /CheckFailed.*the check gate failed: so it said/);
    assert.match(JSON.stringify(stateOf('TimedOut')), /CheckTimedOut/);
    assert.doesNotMatch(JSON.stringify(stateOf('Passed')), /Check/);
  });
  const later = (state: CheckRecord['state'], onFailure: 'Rollback' | 'Ignore' = 'Rollback', actions = {}) => {
    const after = checkOf({ name: 'smoke', phase: 'after' });
    const checks = (begin(after).checks ?? []).map((record) => ({ ...record, state }));
    return JSON.stringify(
      evaluateGuards({ spec: { rollout: { timeoutMs: 600_000, onFailure, checks: [after] } }, status: { checks }, actions }, guard),
    );
  };
  it('does not let an image come back that a later check has failed, unless failures are ignored or it is released', () => {
    assert.match(later('Failed'), /CheckFailed.*the check smoke failed/);
    assert.doesNotMatch(later('TimedOut'), /Check/);
    assert.doesNotMatch(later('Running'), /Check/);
    assert.doesNotMatch(later('Failed', 'Ignore'), /Check/);
    assert.doesNotMatch(later('Failed', 'Rollback', { release: '2026-03-02T11:30:00Z' }), /Check/);
  });
  it('asks a failed check again after a release', () => {
    assert.match(JSON.stringify(stateOf('Failed', { release: '2026-03-02T11:30:00Z' })), /CheckPending/);
  });
  it('does not affect policies without checks', () => {
    assert.deepEqual(evaluateGuards({ spec: specOf() }, guard), evaluateGuards({}, guard));
  });
});
