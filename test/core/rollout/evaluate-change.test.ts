/** A rollout is complete when its checks have passed as well, and a bad verdict is a failed rollout. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckRecord } from '../../../src/core/model/check-record.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { CheckSettings } from '../../../src/core/model/rollout-check.ts';
import { decideRollouts } from '../../../src/core/rollout/decide-rollouts.ts';
import { isUnderWay, withBegunChecks } from '../../../src/core/rollout/evaluate-change.ts';
import { examineRollouts } from '../../../src/core/rollout/examine-rollouts.ts';
import { nextCheck } from '../../../src/core/rollout/next-check.ts';
import { digestOf, policyOf, specOf } from '../model/samples.ts';
import {
  afterChange,
  changedAt,
  changedWorkload,
  entryOf,
  rolledOut,
  snapshotFrom,
  stuckRollout,
  withLastUpdate,
} from './rollout-samples.ts';

const question = { kind: 'job', cronJob: 'any' } as const;
const smoke: CheckSettings = { name: 'smoke', phase: 'after', everyMs: 10_000, timeoutMs: 60_000, retries: 0, question };
const load: CheckSettings = { ...smoke, name: 'load', phase: 'during' };
const settings = { timeoutMs: 600_000, onFailure: 'Rollback' } as const;

const owner = (status: PolicyStatus, checks: readonly CheckSettings[] = [smoke]) =>
  policyOf({ spec: specOf({ rollout: { ...settings, checks } }), status });
const begun = (status: PolicyStatus, out: boolean, checks?: readonly CheckSettings[], seconds = 60) => {
  const policy = owner(status, checks);
  return withBegunChecks(policy, snapshotFrom(policy, [changedWorkload(out ? rolledOut : {})], afterChange(seconds)));
};
const withState = (status: PolicyStatus, state: CheckRecord['state']): PolicyStatus => ({
  ...status,
  checks: (status.checks ?? []).map((record) => ({ ...record, state, message: 'it said so' })),
});
const decide = (status: PolicyStatus, checks?: readonly CheckSettings[]) => {
  const policy = owner(status, checks);
  const snapshot = snapshotFrom(policy, [changedWorkload(rolledOut)]);
  const { over, asked } = examineRollouts(policy, settings, snapshot, true);
  return decideRollouts(policy, [...over, ...asked], snapshot);
};
const image = { tag: '1.3.0', digest: digestOf('b') };
const first = { history: [entryOf()] };
const namesOf = ({ checks = [] }: PolicyStatus) => checks.map(({ name, tag, state }) => `${name} ${tag} ${state}`);

describe('checks of a rollout', () => {
  it('begin when their phase has come, and once', () => {
    assert.deepEqual(namesOf(begun(first, false, [smoke, load])), ['load 1.3.0 Running']);
    const both = begun(begun(first, false, [smoke, load]), true, [smoke, load]);
    assert.deepEqual(namesOf(both).toSorted(), ['load 1.3.0 Running', 'smoke 1.3.0 Running']);
    assert.equal(begun(both, true, [smoke, load]), both);
  });
  it('of the phase during are asked as long as the rollout is under way, and not as long as it has failed', () => {
    const isAsked = (result: 'Applied' | 'Failed', out: boolean) => {
      const status = begun(first, false, [load]);
      const policy = owner({ ...status, history: [entryOf({ result })] }, [load]);
      const snapshot = snapshotFrom(policy, [changedWorkload(out ? rolledOut : stuckRollout)], afterChange(60));
      return (status.checks ?? []).map((record) => isUnderWay(policy, record, snapshot));
    };
    assert.deepEqual([isAsked('Applied', false), isAsked('Applied', true), isAsked('Failed', false)], [[true], [false], [false]]);
  });
  it('do not begin for a change that had rolled out already, or for a rollback', () => {
    for (const entry of [entryOf({ result: 'RolledOut' }), entryOf({ trigger: 'Rollback' })]) {
      const status = { history: [entry] };
      assert.equal(begun(status, true), status);
    }
  });
  it('do not begin before the digest is known from more than the annotation of the workload', () => {
    const workload = withLastUpdate(changedWorkload(rolledOut));
    const begunWith = (status: PolicyStatus) => {
      const policy = owner(status);
      return withBegunChecks(policy, snapshotFrom(policy, [workload]));
    };
    const unrecorded = {};
    assert.equal(begunWith(unrecorded), unrecorded);
    const latest = { ...image, selectedAt: changedAt };
    for (const recorded of [first, { latest }])
      assert.deepEqual(
        begunWith(recorded).checks?.map(({ digest }) => digest),
        [digestOf('b')],
      );
  });
  it('are due to begin at once, as a check of the rollout', () => {
    const policy = owner(first);
    const due = nextCheck(policy, settings, snapshotFrom(policy, [changedWorkload(rolledOut)]));
    assert.match(due?.cause ?? '', /^begin:smoke:1\.3\.0@/);
    assert.equal(due?.at, undefined);
  });
  it('keep the rollout from being complete', () => {
    const { status, results } = decide(first);
    assert.deepEqual([status.history?.[0]?.result, results.results.length, namesOf(status)], ['Applied', 0, ['smoke 1.3.0 Running']]);
    assert.equal(status.rollouts?.progressing, 1);
  });
  it('let the rollout be complete when they have passed', () => {
    const { status } = decide(withState(begun(first, true), 'Passed'));
    assert.equal(status.history?.[0]?.result, 'RolledOut');
  });
  it('make the rollout fail with a bad verdict, and reject the digest', () => {
    const { status, failed } = decide(withState(begun(first, true), 'Failed'));
    assert.deepEqual(status.history?.[0]?.failure?.against, 'image');
    assert.deepEqual(
      status.rejected?.map(({ digest, reason }) => [digest, reason]),
      [[digestOf('b'), 'CheckFailed']],
    );
    assert.match(status.rejected?.[0]?.message ?? '', /the check smoke failed: it said so/);
    assert.equal(failed.length, 1, 'it is rolled back');
  });
  it('make the rollout fail without a verdict in time, and do not blame the image', () => {
    const { status, failed } = decide(withState(begun(first, true), 'TimedOut'));
    assert.deepEqual(
      [status.history?.[0]?.result, status.history?.[0]?.failure?.against, status.rejected],
      ['Failed', 'unknown', undefined],
    );
    assert.equal(failed.length, 1);
  });
  it('are repeated when an image is retried after a check without a verdict, and not after one that passed', () => {
    const timedOut = withState(begun(first, true), 'TimedOut');
    const later = new Date(Date.parse(changedAt) + 120_000).toISOString();
    const again = { ...timedOut, history: [entryOf({ at: later })] };
    assert.deepEqual(namesOf(begun(again, true, [smoke], 180)), ['smoke 1.3.0 Running']);
    assert.deepEqual(
      namesOf(begun({ ...withState(begun(first, true), 'Passed'), history: [entryOf({ at: later })] }, true, [smoke], 180)),
      ['smoke 1.3.0 Passed'],
    );
  });
});
