import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countRollouts, nextCompletion, rolloutStatesOf } from '../../../src/core/rollout/count-rollouts.ts';
import { currentRollouts, followedWorkloads } from '../../../src/core/rollout/current-rollouts.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { snapshotOf } from '../../../src/core/model/target-snapshot.ts';
import type { Workload, WorkloadRollout } from '../../../src/core/model/workload.ts';
import {
  changedAt,
  rolloutOwnerOf,
  entryOf,
  snapshotFrom,
  watchedSpec,
  afterChange,
  changedWorkload,
  stuckRollout,
  rolledOut,
  withLastUpdate,
} from './rollout-samples.ts';
import { digestOf, policyOf, thisDeployment } from '../model/samples.ts';

const settings = { timeoutMs: 600_000, onFailure: 'Rollback' } as const;
const rolloutsOf = (status: PolicyStatus, ...workloads: Workload[]) => {
  const policy = rolloutOwnerOf(status);
  return currentRollouts(policy, snapshotFrom(policy, workloads));
};
const countsOf = (status: PolicyStatus, ...workloads: Workload[]) => {
  const policy = rolloutOwnerOf(status);
  const rollouts = rolloutStatesOf(policy, snapshotFrom(policy, workloads));
  return {
    counts: countRollouts(policy, rollouts, afterChange(60)),
    settlement: nextCompletion(status, rollouts, settings),
  };
};
const changedWeb = (rollout: Partial<WorkloadRollout>) => withLastUpdate(changedWorkload(rollout));
const rejected = [{ digest: digestOf('b'), reason: 'CrashLoop', at: changedAt }];
const settled = { progressing: 0, done: 1, failed: 0, rolledBack: 0, settledAt: changedAt };

test('a rollout is followed by the record on its workload without a history, and by the history without a record', () => {
  const follow = (status: PolicyStatus) => rolloutsOf(status, changedWeb({}))[0]?.entries[0];
  const latest = { tag: '1.3.0', digest: digestOf('b'), selectedAt: changedAt };
  assert.deepEqual(follow({ latest }), { ...entryOf(thisDeployment), result: 'Applied' });
  const { digest: _, ...unproven } = entryOf(thisDeployment);
  assert.deepEqual(follow({}), { ...unproven, result: 'Applied' }, 'of the digest, the workload is no witness');
  const history = [entryOf()];
  assert.deepEqual(rolloutsOf({ history }, changedWorkload())[0]?.entries, history);
  assert.deepEqual(rolloutsOf({ history }, changedWeb({}))[0]?.entries, history, 'the same change once');
  assert.deepEqual(rolloutsOf({}, changedWorkload()), [], 'nobody knows whose it was');
  assert.deepEqual(rolloutsOf({}, withLastUpdate(changedWorkload(), { policy: 'another' })), []);
});

test('the newer of the history and the record on the workload decides what is followed', () => {
  const [followed] = rolloutsOf({ history: [entryOf({ at: '2026-03-01T11:00:00Z', result: 'Failed' })] }, changedWeb({}));
  assert.deepEqual([followed?.entries[0]?.result, followed?.entries[0]?.at], ['Applied', changedAt]);
});

test('a custom resource with the kind of another is a different workload', () => {
  const kruise = 'apps.kruise.io/v1beta1';
  const own = changedWorkload({}, { kind: 'StatefulSet' });
  const { rollout: _, ...custom } = changedWorkload({}, { kind: 'StatefulSet', apiVersion: kruise });
  const view = {
    findWorkload: ({ apiVersion }: { apiVersion?: string }) => (apiVersion === kruise ? custom : own),
    listWorkloads: () => [],
  };
  const target = { kind: 'StatefulSet', namespace: 'shop', name: 'web' };
  const spec = watchedSpec('Rollback', { targets: [target, { ...target, apiVersion: kruise }] });
  const follow = (entry: ReturnType<typeof entryOf>) =>
    followedWorkloads(policyOf({ spec, status: { history: [entry] } }), snapshotOf({ spec }, view, afterChange(60))).map(
      ({ workload }) => workload,
    );
  assert.deepEqual(follow(entryOf({ kind: 'StatefulSet' })), [own]);
  assert.deepEqual(follow(entryOf({ kind: 'StatefulSet', apiVersion: kruise })), [custom]);
});

test('the rollout of a former target is not followed, nor one in another namespace that only the history attributes to us', () => {
  const ops = { namespace: 'ops' };
  const follow = (targets: PolicySpec['targets'], entry: HistoryEntry, workload: Workload) => {
    const policy = policyOf({ spec: watchedSpec('Rollback', { targets }), status: { history: [entry] } });
    return currentRollouts(policy, snapshotFrom(policy, [workload])).length;
  };
  const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };
  assert.equal(follow([web], entryOf(), changedWeb({})), 1);
  assert.equal(follow([{ ...web, name: 'api' }], entryOf(), changedWeb({})), 0, 'it is another');
  assert.equal(follow([{ ...web, containers: ['proxy'] }], entryOf(), changedWeb({})), 0, 'another container is meant');
  assert.equal(follow([{ ...web, fields: { image: 'spec.image' } }], entryOf(), changedWeb({})), 0, 'a field is meant');
  const elsewhere = [{ ...web, ...ops }];
  assert.equal(follow(elsewhere, entryOf(ops), changedWorkload({}, ops)), 0, 'nothing says so but the history');
  assert.equal(follow(elsewhere, entryOf(ops), withLastUpdate(changedWorkload({}, ops))), 1);
});

const rows: [name: string, status: PolicyStatus, workload: Workload, state: string, isSettled: boolean][] = [
  ['under way', {}, changedWeb({}), 'progressing', false],
  ['out', {}, changedWeb(rolledOut), 'done', true],
  ['given up, to be put back', {}, changedWeb(stuckRollout), 'progressing', false],
  ['known to have failed', { history: [entryOf({ result: 'Failed' })] }, changedWeb(stuckRollout), 'failed', false],
  ['put back', {}, withLastUpdate(changedWorkload(rolledOut), { trigger: 'Rollback' }), 'rolledBack', true],
  ['that nobody can watch', {}, changedWeb({ haltedBecause: 'it is paused' }), 'none', true],
  ['in the history', { history: [entryOf({ result: 'RolledOut' })] }, changedWeb(rolledOut), 'done', false],
  ['that was over', { rollouts: settled }, changedWeb({}), 'done', false],
  ['that was over, of an image that failed elsewhere', { rollouts: settled, rejected }, changedWeb({}), 'failed', false],
];

for (const [name, status, workload, state, isSettled] of rows) {
  test(`a rollout ${name} counts as ${state}`, () => {
    const { counts, settlement } = countsOf(status, workload);
    const { settledAt: _, ...numbers } = counts ?? {};
    const expected = { progressing: 0, done: 0, failed: 0, rolledBack: 0, ...(state !== 'none' && { [state]: 1 }) };
    assert.deepEqual(numbers, expected);
    assert.equal(settlement?.settledAt, isSettled ? changedAt : undefined);
  });
}

test('without any change, no rollouts are counted', () => assert.equal(countsOf({}).counts, undefined));

test('a rollout that ended stays so, whatever happens to the workload later, and a later change is followed again', () => {
  const status = { rollouts: settled };
  assert.deepEqual(rolloutsOf(status, changedWeb({})), []);
  const later = withLastUpdate(changedWorkload(), { at: '2026-03-01T12:00:01Z' });
  assert.equal(rolloutsOf(status, later).length, 1);
});
