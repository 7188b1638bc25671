import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { decideRollouts, type RolloutDecision } from '../../../src/core/rollout/decide-rollouts.ts';
import { examineRollouts } from '../../../src/core/rollout/examine-rollouts.ts';
import { addRejection } from '../../../src/core/plan/rejections.ts';
import { evaluateRollout } from '../../../src/core/rollout/evaluate-rollout.ts';
import { digestOf, policyOf, webDeployment } from '../model/samples.ts';
import {
  changedAt,
  changedWorkload,
  entryOf,
  imageAtFault,
  rolledOut,
  rolloutOwnerOf,
  snapshotFrom,
  stuckRollout,
  watchedSpec,
  withLastUpdate,
} from './rollout-samples.ts';

/** The decision of a check that has read these workloads, and pods that speak against the image. */
function decide(policy: ImagePolicy, ...workloads: readonly Workload[]): RolloutDecision {
  const snapshot = snapshotFrom(policy, workloads);
  const { over, asked } = examineRollouts(policy, { timeoutMs: 600_000, onFailure: 'Rollback' }, snapshot, true);
  const read = asked.map(({ rollout, ...found }) => {
    const time = { since: rollout.since, timeoutMs: 600_000 };
    return { ...found, rollout, evaluation: evaluateRollout(rollout.workload, time, snapshot.at, imageAtFault) };
  });
  return decideRollouts(policy, [...over, ...read], snapshot);
}

const decided = ({ status, results, failed, refused }: RolloutDecision) => ({
  history: (status.history ?? []).map(({ name, result }) => `${name} ${result}`),
  rejected: (status.rejected ?? []).map(({ digest }) => digest),
  reported: results.results.map(({ workload, isDone }) => `${workload.name} ${isDone ? 'is out' : 'failed'}`),
  failed: failed.map(({ workload, entries }) => `${workload.name}: ${entries.length}`),
  refused: refused.map(({ entry, why }) => `${entry.name}: ${why}`),
});
const nothing = { rejected: [], reported: [], failed: [], refused: [] };
const digest = digestOf('b');

test('a rollout under way waits: nothing is recorded, reported or rolled back', () => {
  assert.deepEqual(decided(decide(rolloutOwnerOf({ history: [entryOf()] }), changedWorkload())), { ...nothing, history: ['web Applied'] });
});

test('a complete rollout is recorded and reported, once', () => {
  const { status, ...decision } = decide(rolloutOwnerOf({ history: [entryOf()] }), changedWorkload(rolledOut));
  assert.deepEqual(decided({ status, ...decision }), { ...nothing, history: ['web RolledOut'], reported: ['web is out'] });
  assert.equal(status.rollouts?.done, 1);
  assert.deepEqual(decided(decide(rolloutOwnerOf(status), changedWorkload(rolledOut))), { ...nothing, history: ['web RolledOut'] });
});

test('a failed rollout is recorded, rejected and reported, and rolled back only where the policy says so', () => {
  const status = { history: [entryOf()] };
  const failed = { history: ['web Failed'], rejected: [digest], reported: ['web failed'], refused: [] };
  const decisionOf = (onFailure: 'Rollback' | 'Hold' | 'Ignore') =>
    decided(decide(rolloutOwnerOf(status, onFailure), changedWorkload(stuckRollout)));
  assert.deepEqual(decisionOf('Rollback'), { ...failed, failed: ['web: 1'] });
  assert.deepEqual(decisionOf('Hold'), { ...failed, failed: [] });
  assert.deepEqual(decisionOf('Ignore'), { ...failed, rejected: [], failed: [] });
});

test('after a crash before a rollback, the rollback is decided again, and the failure is not reported again', () => {
  const { status } = decide(rolloutOwnerOf({ history: [entryOf()] }), changedWorkload(stuckRollout));
  const { reported, failed } = decided(decide(rolloutOwnerOf(status), changedWorkload(stuckRollout)));
  assert.deepEqual([reported, failed], [[], ['web: 1']]);
});

test('an image that is rolled back is rejected, even if its failure was ignored when it was found', () => {
  const ignored = decide(rolloutOwnerOf({ history: [entryOf()] }, 'Ignore'), changedWorkload(stuckRollout));
  assert.deepEqual(decided(ignored).rejected, []);
  const edited = decide(rolloutOwnerOf(ignored.status, 'Rollback'), changedWorkload(stuckRollout));
  assert.deepEqual(decided(edited), { ...nothing, history: ['web Failed'], rejected: [digest], failed: ['web: 1'] });
  const again = decide(rolloutOwnerOf(edited.status, 'Rollback'), changedWorkload(stuckRollout));
  assert.deepEqual(again.status.rejected, edited.status.rejected, 'it is rejected once');
});

test('a failure is reported as one that is not rolled back if no earlier image is known', () => {
  const { from: _, ...unknown } = entryOf();
  const { results, failed } = decide(rolloutOwnerOf({ history: [unknown] }), changedWorkload(stuckRollout));
  assert.deepEqual([results.results[0]?.whyNoRollback, failed], ['it is not known what ran before', []]);
  const held = decide(rolloutOwnerOf({ history: [unknown] }, 'Hold'), changedWorkload(stuckRollout));
  assert.equal(held.results.results[0]?.whyNoRollback, undefined, 'nobody asked for a rollback');
});

test('the rollback of a failed change is refused if its workload is no longer a target', () => {
  const failed = entryOf({ name: 'api', result: 'Failed' });
  assert.deepEqual(decided(decide(rolloutOwnerOf({ history: [failed] }))).refused, ['api: it is no target of the policy']);
  assert.deepEqual(decided(decide(rolloutOwnerOf({ history: [failed] }, 'Hold'))).refused, []);
});

test('of many workloads, only the last one that completes reports that all are complete, and none after a failure', () => {
  const targets = ['web', 'api'].map((name) => ({ ...webDeployment, name }));
  const isLast = (api: Partial<HistoryEntry>, rollout: Workload['rollout']) => {
    const history = [entryOf(), entryOf({ name: 'api', ...api })];
    const policy = policyOf({ spec: watchedSpec('Hold', { targets }), status: { history } });
    const { results } = decide(policy, changedWorkload(rolledOut), changedWorkload(rollout, { name: 'api' }));
    return results.results.find(({ workload }) => workload.name === 'web')?.isLast;
  };
  assert.equal(isLast({}, changedWorkload().rollout), false);
  assert.equal(isLast({ result: 'RolledOut' }, rolledOut), true);
  assert.equal(isLast({ result: 'Failed' }, stuckRollout), false);
});

test('an image that a person rejects while it rolls out is complete all the same, and one that failed elsewhere is not', () => {
  const isLast = (reason: 'RollbackRequested' | 'CrashLoop') => {
    const rejected = addRejection([], { tag: '1.3.0', digest: digestOf('b'), reason, at: changedAt });
    const policy = policyOf({ spec: watchedSpec('Hold'), status: { history: [entryOf()], rejected } });
    return decide(policy, changedWorkload(rolledOut)).results.results[0]?.isLast;
  };
  assert.equal(isLast('RollbackRequested'), true);
  assert.notEqual(isLast('CrashLoop'), true);
});

test('an image is complete while another one rolls out on other workloads, and not while it does so itself', () => {
  const targets = ['web', 'api'].map((name) => ({ ...webDeployment, name }));
  const isLast = (api: Partial<HistoryEntry>, earlier: readonly HistoryEntry[] = []) => {
    const status: PolicyStatus = { history: [entryOf({ name: 'api', ...api }), entryOf(), ...earlier] };
    const rolling = changedWorkload(changedWorkload().rollout, { name: 'api' }, api.tag);
    const { results } = decide(policyOf({ spec: watchedSpec('Hold', { targets }), status }), changedWorkload(rolledOut), rolling);
    return results.results.find(({ workload }) => workload.name === 'web')?.isLast;
  };
  const other = { tag: '1.4.0', digest: digestOf('f'), to: 'registry.example.com/shop/web:1.4.0' };
  assert.equal(isLast(other), true);
  assert.equal(isLast({}), false);
  const earlier = Array.from({ length: 8 }, (_, index) => entryOf({ name: `other-${index}`, tag: '1.2.0', result: 'RolledOut' }));
  assert.equal(isLast(other, earlier), false, 'a full history may lack changes of the image');
});

test('changes that the history does not hold are reported together, when all are complete', () => {
  const status: PolicyStatus = { history: [] };
  const completed = (...workloads: readonly Workload[]) => {
    const { results } = decide(rolloutOwnerOf(status), ...workloads);
    return results.completed.map(({ workload, entries }) => [workload.name, entries.map(({ tag }) => tag)]);
  };
  assert.deepEqual(completed(withLastUpdate(changedWorkload(rolledOut))), [['web', ['1.3.0']]]);
  assert.deepEqual(completed(withLastUpdate(changedWorkload())), []);
  assert.equal(decide(rolloutOwnerOf(status), withLastUpdate(changedWorkload(rolledOut))).status.rollouts?.settledAt, entryOf().at);
});
