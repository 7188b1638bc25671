/** Conditions where a reconcile and the rollouts find different things at the same time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextConditions, withHeldRollouts } from '../../../src/core/status/next-conditions.ts';
import type { ConditionState, RolloutConditions } from '../../../src/core/status/condition-states.ts';
import type { Condition, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { Outcome } from '../../../src/core/plan/outcome.ts';
import type { Reason } from '../../../src/core/model/reasons.ts';
import { digestOf, policyOf } from '../model/samples.ts';
import { oneHourLater, unchangedOutcome } from './outcomes.ts';

const lines = (conditions: readonly Condition[]) => conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const instead = (type: 'Reconciling' | 'Stalled', reason: Reason): RolloutConditions => ({
  instead: [
    { type: 'Ready', status: 'False', reason, message: '' },
    { type, status: 'True', reason, message: '' },
  ],
  notes: [],
  held: [],
});
const until = '2026-03-01T12:30:00Z';
const waiting: Outcome = {
  ...unchangedOutcome,
  kind: 'waiting',
  reason: 'WavePending',
  pending: { next: { tag: '1.4.0', digest: digestOf('a'), until, reason: 'WavePending' } },
};
const rejected: Outcome = { ...unchangedOutcome, kind: 'stalled', reason: 'RejectedDigest' };

for (const [name, result, rollouts, expected] of [
  ['a wave waits for a rollout that is under way', waiting, instead('Reconciling', 'Progressing'), 'Progressing'],
  ['a wave waits, and a rollout has failed', waiting, instead('Stalled', 'RolloutFailed'), 'RolloutFailed'],
  ['an image waits, and one before it was rolled back', waiting, instead('Stalled', 'RejectedDigest'), 'WavePending'],
  ['an image is rejected, and still rolled out to another target', rejected, instead('Reconciling', 'Progressing'), 'Progressing'],
] as const)
  test(`Ready is ${expected} where ${name}`, () => {
    const [ready] = lines(nextConditions(policyOf(), result, oneHourLater, rollouts));
    assert.equal(ready, `Ready=False ${expected}`);
  });

test('a held rollout is shown beside other problems of the policy, and no longer once the rollout is not held', () => {
  const held: ConditionState = { type: 'Held', status: 'True', reason: 'RolloutFailed', message: 'it failed' };
  const time = { lastTransitionTime: '2026-01-01T00:00:00Z', message: '' };
  const denied: Condition[] = [{ type: 'Stalled', status: 'True', reason: 'CrossNamespaceDenied', ...time }];
  const shown = withHeldRollouts(policyOf(), denied, { notes: [], held: [held] }, oneHourLater);
  assert.deepEqual(lines(shown), ['Stalled=True CrossNamespaceDenied', 'Held=True RolloutFailed']);
  assert.deepEqual(lines(withHeldRollouts(policyOf(), shown, { notes: [], held: [] }, oneHourLater)), lines(denied));
  const paused: Condition = { type: 'Held', status: 'True', reason: 'TargetPaused', ...time };
  assert.deepEqual(withHeldRollouts(policyOf(), [paused], { notes: [], held: [] }, oneHourLater), [paused]);
});

test('a rollback that the history contains does not set Held, and one that a user asked for does', () => {
  const reason = 'RejectedDigest';
  const digest = digestOf('b');
  const blocked: Outcome = {
    ...unchangedOutcome,
    reason,
    digest,
    blocked: [{ reason, message: 'latest was rolled back', changes: [], kind: 'blocked' }],
  };
  const place = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'web-1', container: 'web' };
  const entry = { ...place, from: 'web:1', to: 'web:2', tag: '2', digest, at: '2026-03-01T12:00:00Z', trigger: 'Webhook' } as const;
  const after = (status: PolicyStatus) =>
    lines(nextConditions(policyOf({ status }), blocked, oneHourLater, instead('Stalled', 'RolloutFailed')));
  const history = [{ ...entry, result: 'RolledBack' }] as const;
  const refused = ['Ready=False RolloutFailed', 'Stalled=True RolloutFailed'];
  assert.deepEqual(after({}), [...refused, 'Held=True RejectedDigest'], 'as long as only the workload knows');
  assert.deepEqual(after({ history }), refused);
  const rejected = [{ digest, tag: '2', reason: 'RollbackRequested', at: entry.at }] as const;
  assert.deepEqual(after({ history, rejected }), [...refused, 'Held=True RejectedDigest']);
});

test('Held is removed where no target is left, even if an older image was evaluated', () => {
  const time = { lastTransitionTime: '2026-01-01T00:00:00Z', message: '' };
  const policy = policyOf({ status: { conditions: [{ type: 'Held', status: 'True', reason: 'TargetPaused', ...time }] } });
  const place = { kind: 'Deployment', namespace: 'shop', name: 'web' };
  const older = { kind: 'stalled', reason: 'TargetNotFound', message: 'gone', tag: '1.0.0' } as const;
  const after = (seen: Outcome['seen']) => lines(nextConditions(policy, { ...older, ...(seen && { seen }) }, oneHourLater));
  assert.deepEqual(after([place]), ['Ready=False TargetNotFound', 'Stalled=True TargetNotFound']);
  assert.ok(after([place, { ...place, container: 'web', image: 'web:1' }]).includes('Held=True TargetPaused'));
});
