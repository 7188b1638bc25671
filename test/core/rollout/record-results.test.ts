import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { statusSchema, type HistoryEntry, type PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { rollbacksOf, whyNoRollback } from '../../../src/core/rollout/automatic-rollback.ts';
import { decideRollouts } from '../../../src/core/rollout/decide-rollouts.ts';
import { currentRollouts } from '../../../src/core/rollout/current-rollouts.ts';
import { evaluateRollout } from '../../../src/core/rollout/evaluate-rollout.ts';
import { toSeconds } from '../../../src/core/model/text.ts';
import { rolloutConditions } from '../../../src/core/status/condition-states.ts';
import { noteNoRollback, recordFindings, recordRollbacks } from '../../../src/core/rollout/record-results.ts';
import { withRollouts } from '../../../src/core/status/with-rollouts.ts';
import { withRollback } from '../../../src/core/status/next-actions.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { progressOf, rolloutStatesOf } from '../../../src/core/rollout/count-rollouts.ts';
import { digestOf, noSources, policyOf, webDeployment, workloadOf } from '../model/samples.ts';
import {
  afterChange,
  changedWorkload,
  changedAt,
  rolloutOwnerOf,
  entryOf,
  stuckRollout,
  image,
  rolledOut,
  withLastUpdate,
  snapshotFrom,
  watchedSpec,
  imageAtFault,
} from './rollout-samples.ts';

const aMinuteAfterChange = afterChange(60);
const settings = (onFailure: 'Rollback' | 'Hold' | 'Ignore') => ({ timeoutMs: 600_000, onFailure });
const noTagsByImage = new Map<string, string>();

function settled(
  status: PolicyStatus,
  workload: Workload,
  onFailure: 'Rollback' | 'Hold' | 'Ignore' = 'Rollback',
  digests = noTagsByImage,
) {
  const policy = rolloutOwnerOf(status, onFailure);
  const snapshot = snapshotFrom(policy, [workload]);
  const findings = currentRollouts(policy, snapshot).map((rollout) => ({
    rollout,
    evaluation: evaluateRollout(rollout.workload, { since: rollout.since, timeoutMs: 600_000 }, aMinuteAfterChange, imageAtFault),
    digests,
  }));
  return recordFindings(policy, findings, snapshot);
}
const backOf = (status: PolicyStatus, workload: Workload) => rollbacksOf(rolloutOwnerOf(status), workload, noSources);
const results = ({ history = [] }: PolicyStatus) => history.map(({ result }) => result);
const claimed = (status: PolicyStatus, workload: Workload, onFailure: 'Rollback' | 'Hold' | 'Ignore' = 'Rollback') => {
  const policy = rolloutOwnerOf(status, onFailure);
  const states = rolloutStatesOf(policy, snapshotFrom(policy, [workload]));
  const { instead = [], held } = rolloutConditions(policy, states, aMinuteAfterChange);
  return [...instead, ...held].map(({ type, status, reason }) => `${type}=${status} ${reason}`);
};

const latest = { tag: '1.3.0', digest: digestOf('b'), selectedAt: changedAt };
const rejectedLines = ['Ready=False RejectedDigest', 'Stalled=True RejectedDigest'];

test('the newest change of a container is followed while it runs', () => {
  const olderEntry = entryOf({ to: `${image}:1.2.9`, at: '2026-03-01T11:00:00Z' });
  const found = (status: PolicyStatus, workload = changedWorkload()) =>
    currentRollouts(rolloutOwnerOf(status), snapshotFrom(rolloutOwnerOf(status), [workload])).flatMap(({ entries }) => entries);
  assert.deepEqual(found({ history: [entryOf(), olderEntry] }), [entryOf()]);
  assert.deepEqual(found({ history: [entryOf(), olderEntry] }, changedWorkload({}, {}, '1.2.9')), []);
  assert.deepEqual(found({ history: [entryOf({ result: 'RolledOut' })] }), []);
  assert.deepEqual(found({ history: [entryOf({ result: 'Failed' })] }).length, 1);
  assert.deepEqual(found({}), []);
  const withDigest = workloadOf({ web: { image: `${image}:1.3.0@${digestOf('b')}`, imageOwner: 'image-watcher' } });
  assert.equal(found({ history: [entryOf()] }, withDigest).length, 1, 'an admission webhook added the digest');
});

test('a complete rollout is recorded as RolledOut, and a rejected image that completes after all is no longer rejected', () => {
  assert.deepEqual(results(settled({ history: [entryOf()] }, changedWorkload(rolledOut))), ['RolledOut']);
  const failed = settled({ history: [entryOf()] }, changedWorkload(stuckRollout), 'Hold');
  assert.deepEqual(
    failed.rejected?.map(({ digest, reason }) => [digest, reason]),
    [[digestOf('b'), 'ProgressDeadlineExceeded']],
  );
  const late = settled(failed, changedWorkload(rolledOut), 'Hold');
  assert.deepEqual([results(late), late.rejected], [['RolledOut'], []]);
});

test('the image of a failed rollout is rejected with the reason, unless failures are ignored', () => {
  const status = { history: [entryOf()] };
  for (const onFailure of ['Rollback', 'Hold'] as const)
    assert.equal(settled(status, changedWorkload(stuckRollout), onFailure).rejected?.length, 1);
  const ignored = settled(status, changedWorkload(stuckRollout), 'Ignore');
  assert.deepEqual([results(ignored), ignored.rejected], [['Failed'], undefined]);
  const { digest: _, ...unknown } = entryOf();
  const asked = settled({ history: [unknown] }, changedWorkload(stuckRollout), 'Rollback', new Map([['1.3.0', digestOf('c')]]));
  assert.deepEqual([asked.history?.[0]?.digest, asked.rejected?.[0]?.digest], [digestOf('c'), digestOf('c')]);
});

test('a change that was rolled back is recorded as RolledBack, and the rollback as a change of its own', () => {
  const failed = settled(
    { history: [entryOf(), entryOf({ to: `${image}:1.2.3`, digest: digestOf('a'), result: 'RolledOut' })] },
    changedWorkload(stuckRollout),
  );
  const rollbacks = backOf(failed, changedWorkload(stuckRollout));
  assert.deepEqual(
    rollbacks.map(({ position, isDone }) => [position.index, isDone]),
    [[0, false]],
  );
  const back = recordRollbacks(failed, rollbacks, aMinuteAfterChange);
  assert.deepEqual(results(back), ['Applied', 'RolledBack', 'RolledOut']);
  const [entry] = back.history ?? [];
  assert.deepEqual(
    [entry?.from, entry?.to, entry?.tag, entry?.digest, entry?.trigger],
    [`${image}:1.3.0`, `${image}:1.2.3`, '1.2.3', digestOf('a'), 'Rollback'],
  );
  assert.deepEqual([back.lastAppliedTag, back.trigger?.source], ['1.2.3', 'Rollback']);
  assert.deepEqual(recordRollbacks(back, rollbacks, afterChange(61)), back, 'written once');
  assert.deepEqual(backOf(back, changedWorkload({}, {}, '1.2.3')), []);
});

test('after a rollback the status shows the previous image as what runs', () => {
  const { kind, namespace, name, uid } = changedWorkload();
  const target = { kind, namespace, name, uid, container: 'web', image: `${image}:1.3.0`, state: 'UpToDate' } as const;
  const counts = { total: 1, upToDate: 1, problems: 0 };
  const failed = settled(
    { history: [entryOf()], targets: [target], targetCounts: counts, running: '1.3.0' },
    changedWorkload(stuckRollout),
  );
  const back = recordRollbacks(failed, backOf(failed, changedWorkload(stuckRollout)), aMinuteAfterChange);
  assert.deepEqual([back.targets?.[0]?.image, back.targets?.[0]?.state], [`${image}:1.2.3`, 'Kept']);
  assert.deepEqual([back.running, back.targetCounts], ['1.2.3', { ...counts, upToDate: 0 }]);
});

test('a rollback on request keeps the failure message of the image that it leaves', () => {
  const failed = settled({ history: [entryOf()] }, changedWorkload(stuckRollout), 'Hold');
  const [rejection] = failed.rejected ?? [];
  const rollback = { request: 'previous', tag: '1.2.3', digest: digestOf('a') };
  const left = withRollback(failed, { rollback, left: [latest] }, { now: aMinuteAfterChange, released: undefined });
  assert.ok(rejection?.message);
  assert.deepEqual(
    left.rejected?.map(({ digest, reason, message }) => [digest, reason, message]),
    [[digestOf('b'), 'RollbackRequested', rejection.message]],
  );
});

test('an image that a user rolled back from stays rejected when it rolls out elsewhere', () => {
  const rollback = { request: 'previous', tag: '1.2.3', digest: digestOf('a') };
  const left = withRollback(
    { history: [entryOf({ at: afterChange(1).toISOString() })] },
    { rollback, left: [{ tag: '1.3.0', digest: digestOf('b') }] },
    { now: afterChange(0), released: undefined },
  );
  const out = settled(left, changedWorkload(rolledOut));
  assert.deepEqual([results(out), out.rejected?.map(({ digest }) => digest)], [['RolledOut'], [digestOf('b')]]);
});

test('a workload that a stale watch shows as it was before the change does not count as rolled back', () => {
  const failed = settled({ history: [entryOf()] }, changedWorkload(stuckRollout));
  const { at } = entryOf();
  const seen = (recordedAt: string) => {
    const lastUpdate = { policy: 'uid', at: recordedAt, trigger: 'Rollback', from: `${image}:1.3.0`, to: `${image}:1.2.3` } as const;
    return changedWorkload({}, { containers: [{ name: 'web', image: `${image}:1.2.3`, imageOwner: 'image-watcher', lastUpdate }] });
  };
  assert.deepEqual(backOf(failed, seen(new Date(Date.parse(at) - 1_000).toISOString())), []);
  assert.equal(backOf(failed, seen(new Date(Date.parse(at) + 1_000).toISOString())).length, 1);
});

test('a rollback whose status was not written because of a crash is recognised by the image that runs', () => {
  const failed = settled({ history: [entryOf()] }, changedWorkload(stuckRollout));
  assert.deepEqual(
    backOf(failed, changedWorkload({}, {}, '1.2.3')).map(({ isDone }) => isDone),
    [true],
  );
  const byHand = workloadOf({ web: { image: `${image}:1.2.3`, imageOwner: 'kubectl' } });
  assert.deepEqual(backOf(failed, byHand), [], 'somebody else did it');
  assert.deepEqual(backOf(failed, changedWorkload({}, {}, '1.1.0')), [], 'somebody else changed it');
});

test('an image that cannot be rolled back is reported with the reason', () => {
  const { from: _, ...unknown } = entryOf();
  assert.match(whyNoRollback(unknown) ?? '', /not known what ran before/);
  assert.match(whyNoRollback(entryOf({ trigger: 'Rollback' })) ?? '', /itself/);
  const moved = { from: `${image}:latest`, to: `${image}:latest@${digestOf('b')}` };
  assert.match(whyNoRollback(entryOf(moved)) ?? '', /same tag/);
  assert.equal(whyNoRollback(entryOf({ ...moved, from: `${image}:latest@${digestOf('a')}` })), undefined);
  assert.match(whyNoRollback(entryOf({ from: '::' })) ?? '', /cannot be read/);
  const refusal = { reason: 'RollbackRefused', why: 'no consent' } as const;
  const noted = noteNoRollback(settled({ history: [entryOf()] }, changedWorkload(stuckRollout)), entryOf(), refusal, aMinuteAfterChange);
  assert.match(noted.rejected?.[0]?.message ?? '', /timed out progressing.*not rolled back: no consent/);
  assert.deepEqual(noted.history?.[0]?.rollbackRefused, {
    reason: 'RollbackRefused',
    message: 'no consent',
    at: toSeconds(aMinuteAfterChange),
  });
  assert.equal(noteNoRollback(noted, entryOf(), refusal, afterChange(90)), noted);
});

test('Ready is True only when the rollout of the selected image is complete', () => {
  const status = { latest, history: [entryOf()] };
  assert.deepEqual(claimed(status, changedWorkload()), ['Ready=False Progressing', 'Reconciling=True Progressing']);
  assert.deepEqual(claimed(status, changedWorkload(rolledOut)), []);
  assert.deepEqual(claimed(status, changedWorkload({ haltedBecause: 'it is paused' })), []);
  const failed = settled(status, changedWorkload(stuckRollout), 'Hold');
  const stalled = ['Ready=False RolloutFailed', 'Stalled=True RolloutFailed'];
  assert.deepEqual(claimed(failed, changedWorkload(stuckRollout), 'Hold'), [...stalled, 'Held=True RolloutFailed']);
  assert.deepEqual(claimed(failed, changedWorkload(stuckRollout), 'Ignore'), stalled);
  const back = recordRollbacks(failed, backOf(failed, changedWorkload(stuckRollout)), aMinuteAfterChange);
  assert.deepEqual(claimed(back, changedWorkload({}, {}, '1.2.3')), ['Ready=False Progressing', 'Reconciling=True Progressing']);
  assert.deepEqual(claimed(back, changedWorkload(rolledOut, {}, '1.2.3')), rejectedLines);
  const history = [entryOf({ to: `${image}:1.4.0`, tag: '1.4.0', digest: digestOf('c') }), ...(back.history ?? [])];
  const after = changedWorkload(rolledOut, {}, '1.4.0');
  assert.deepEqual(claimed({ ...back, history, latest: { ...latest, tag: '1.4.0', digest: digestOf('c') } }, after), []);
  // An image that was pushed before the rejected one, and is applied after it, is not what the policy selects.
  assert.deepEqual(claimed({ ...back, history }, after), rejectedLines);
});

test('the result of a rollout leaves the conditions of other reconciles unchanged', () => {
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'TargetNotFound', message: '', lastTransitionTime: changedAt },
    { type: 'Stalled', status: 'True', reason: 'TargetNotFound', message: '', lastTransitionTime: changedAt },
  ] as const;
  const policy = policyOf({ spec: watchedSpec(), status: { observedGeneration: 1, conditions, history: [entryOf()] } });
  const recorded = settled(policy.status, changedWorkload(rolledOut));
  const progress = progressOf({ ...policy, status: recorded }, snapshotFrom(policy, [changedWorkload(rolledOut)]));
  const updatedStatus = withRollouts(policy, progress, aMinuteAfterChange);
  assert.deepEqual(updatedStatus?.conditions, conditions);
  assert.deepEqual(results(updatedStatus ?? {}), ['RolledOut']);
});

const waves = { maxParallel: 1, pauseMs: 1_000, maxFailures: 2 };

test('with waves an image is rejected when it has failed on maxFailures workloads, each counted once', () => {
  const web = changedWorkload(stuckRollout);
  const targets = ['web', 'api'].map((name) => ({ ...webDeployment, name }));
  const spec = watchedSpec('Rollback', { targets, rollout: { ...settings('Rollback'), waves } });
  const evaluation = { kind: 'failed', reason: 'CrashLoop', message: 'it crashes', against: 'image' } as const;
  const rollout = { workload: web, entries: [entryOf()], since: new Date(changedAt) };
  const rejectedAfter = (others: readonly Workload[], ...earlier: HistoryEntry[]) => {
    const policy = policyOf({ spec, status: { history: [entryOf(), ...earlier] } });
    const findings = [{ rollout, evaluation, digests: noTagsByImage }];
    return recordFindings(policy, findings, snapshotFrom(policy, [web, ...others])).rejected?.length ?? 0;
  };
  assert.equal(rejectedAfter([]), 0);
  assert.equal(rejectedAfter([], entryOf({ result: 'Failed', container: 'proxy' })), 0, 'the same workload');
  const api = changedWorkload({}, { name: 'api', uid: 'uid-of-api' }, '1.2.3');
  assert.equal(rejectedAfter([api]), 0, 'it was never changed');
  assert.equal(rejectedAfter([withLastUpdate(api, { trigger: 'Rollback', failed: digestOf('b') })]), 1);
});

test('a policy whose rollout is complete is not Ready while a candidate is pending', () => {
  const waiting = { tag: '1.3.0', digest: digestOf('b'), until: '2026-03-01T12:10:00Z', reason: 'WavePending' };
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Progressing', message: '', lastTransitionTime: changedAt } as const];
  const rollouts = { progressing: 1, done: 0, failed: 0, rolledBack: 0 };
  const status: PolicyStatus = { observedGeneration: 1, history: [entryOf()], waiting, conditions, rollouts };
  const spec = watchedSpec('Rollback', { rollout: { ...settings('Rollback'), waves } });
  const policy = policyOf({ spec, status });
  const rollout = { workload: changedWorkload(rolledOut), entries: [entryOf()], since: new Date(changedAt) };
  const finding = { rollout, evaluation: { kind: 'done', message: '' }, digests: noTagsByImage } as const;
  const next = withRollouts(
    policy,
    decideRollouts(policy, [finding], snapshotFrom(policy, [changedWorkload(rolledOut)])),
    aMinuteAfterChange,
  );
  const ready = next?.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual([ready?.status, ready?.reason, next?.rollouts?.lastDoneAt], ['False', 'WavePending', '2026-03-01T12:01:00Z']);
});

const tag = fc.constantFrom('1.2.3', '1.3.0', '1.4.0');
const entry = fc
  .record({
    container: fc.constantFrom('web', 'proxy'),
    tag,
    before: tag,
    result: fc.constantFrom('Applied', 'RolledOut', 'RolledBack', 'Failed'),
    trigger: fc.constantFrom('Webhook', 'Rollback'),
  })
  .map(({ container, tag, before, result, trigger }) =>
    entryOf({ container, tag, to: `${image}:${tag}`, from: `${image}:${before}`, result, trigger }),
  );

test('whatever the history contains, a repeated reconcile writes nothing more, and the API server accepts the status', () => {
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 10 }),
      tag,
      fc.constantFrom(rolledOut, stuckRollout, {}),
      fc.constantFrom('Rollback', 'Hold', 'Ignore'),
      (history, tag, rollout, onFailure) => {
        const workload = changedWorkload(rollout, {}, tag);
        const once = settled({ history }, workload, onFailure);
        assert.deepEqual(settled(once, workload, onFailure), once);
        const back = recordRollbacks(once, backOf(once, workload), aMinuteAfterChange);
        assert.deepEqual(backOf(back, changedWorkload(rollout, {}, tag)).length, 0);
        assert.ok(statusSchema.safeParse(back).success);
        assert.ok((back.history?.length ?? 0) <= 10);
      },
    ),
  );
});

test('a failure is added to a history full of newer changes, and stays there when it was rolled back', () => {
  const others = Array.from({ length: 10 }, (_, index) => entryOf({ name: `web-${index}`, at: '2026-03-01T12:00:05Z' }));
  const workload = withLastUpdate(changedWorkload(stuckRollout));
  const failed = settled({ latest, history: others }, workload);
  assert.deepEqual([failed.history?.length, failed.history?.at(-1)?.result, failed.history?.at(-1)?.name], [10, 'Failed', 'web']);
  const back = recordRollbacks(failed, backOf(failed, workload), aMinuteAfterChange);
  assert.deepEqual([back.history?.length, back.history?.at(0)?.trigger, back.history?.at(-1)?.result], [10, 'Rollback', 'RolledBack']);
  assert.deepEqual(claimed(back, withLastUpdate(changedWorkload(rolledOut, {}, '1.2.3'), { trigger: 'Rollback' })), rejectedLines);
});
