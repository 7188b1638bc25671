import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { decideAlike } from '../../../src/core/model/policy-basis.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { digestOf } from './samples.ts';

const at = '2026-01-01T00:00:00Z';
const workload = { kind: 'Deployment', namespace: 'shop', name: 'web' };
const entry: HistoryEntry = { ...workload, container: 'web', to: 'shop/web:1', tag: '1', trigger: 'Poll', at, result: 'Applied' };
const before: PolicyStatus = { history: [entry], latest: { tag: '1', selectedAt: at } };
const refused = { reason: 'RollbackRefused', message: 'why', at } as const;

const cases: readonly (readonly [what: string, isAlike: boolean, status: PolicyStatus])[] = [
  ['nothing', true, { ...before }],
  ['when the image was selected', true, { ...before, latest: { tag: '1', selectedAt: '2026-02-02T00:00:00Z' } }],
  ['the digest of the selected tag', false, { ...before, latest: { tag: '1', digest: digestOf('a'), selectedAt: at } }],
  ['conditions and targets', true, { ...before, conditions: [], targets: [], targetCounts: { total: 1, upToDate: 1, problems: 0 } }],
  ['the trigger and times', true, { ...before, trigger: { source: 'Poll', handledAt: at }, lastCheckTime: at, lastHandledRequest: 'x' }],
  ['another change', false, { ...before, history: [{ ...entry, to: 'shop/web:2' }, entry] }],
  ['the result of a change', false, { ...before, history: [{ ...entry, result: 'Failed' }] }],
  ['why a change is not rolled back', true, { ...before, history: [{ ...entry, rollbackRefused: refused }] }],
  ['the counts of rollouts', true, { ...before, rollouts: { progressing: 1, done: 0, failed: 0, rolledBack: 0 } }],
  ['the end of a wave', false, { ...before, rollouts: { progressing: 0, done: 1, failed: 0, rolledBack: 0, lastDoneAt: at } }],
  ['what waits', false, { ...before, waiting: { until: at, reason: 'MinAge' } }],
  ['what waits for approval', false, { ...before, pendingApproval: { tag: '2', digest: digestOf('b') } }],
  ['a reverted change', false, { ...before, reverted: [{ ...workload, container: 'web', tag: '1', count: 1, at }] }],
  ['a rejected image', false, { ...before, rejected: [{ digest: digestOf('b'), reason: 'RolloutFailed', at }] }],
  ['a rollback that was handled', false, { ...before, lastHandledRollback: 'previous' }],
];

for (const [what, isAlike, status] of cases)
  test(`a changed status ${isAlike ? 'does not change' : 'changes'} the decision if the difference is: ${what}`, () => {
    assert.equal(decideAlike({ status: before }, { status }), isAlike);
    assert.equal(decideAlike({ status }, { status: before }), isAlike);
  });

test('every action of a user changes the decision, except the request to check', () => {
  const alike = (actions: ImagePolicy['actions'] & {}) => decideAlike({ status: before }, { status: before, actions });
  assert.deepEqual([{}, { requestedAt: 'now' }].map(alike), [true, true]);
  assert.deepEqual([{ approve: 'x' }, { rollbackTo: 'x' }, { release: 'x' }].map(alike), [false, false, false]);
});
