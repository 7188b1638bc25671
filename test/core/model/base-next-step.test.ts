import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BaseStep, baseSteps, nextStepOf, type StepSubject } from '../../../src/core/model/base-next-step.ts';

const selected = `sha256:${'b'.repeat(64)}`;
const tagged = 'harbor.example.com/shop/web:1.2.3';
const pinned = `${tagged}@sha256:${'a'.repeat(64)}`;

const rows: readonly (readonly [name: string, subject: Partial<StepSubject>, step: BaseStep | undefined])[] = [
  ['on the selected base', { state: 'Current' }, undefined],
  ['rolled out', { state: 'Updated', action: 'rebase' }, undefined],
  ['an image volume', { state: 'Unknown', uses: ['ImageVolume'] }, 'ImageVolume'],
  ['a volume that also runs', { state: 'Behind', action: 'report', uses: ['Container', 'ImageVolume'] }, 'AddAction'],
  ['only reported', { state: 'Behind', action: 'report' }, 'AddAction'],
  ['only reported, of an init container', { state: 'Behind', action: 'report', uses: ['InitContainer'] }, 'BringToInit'],
  ['only reported, of both', { state: 'Behind', action: 'report', uses: ['Container', 'InitContainer'] }, 'AddAction'],
  ['pinned, only reported', { image: pinned, state: 'Behind', action: 'report' }, 'UnpinOrTrigger'],
  ['pinned, which no restart changes', { image: pinned, state: 'Behind', action: 'restart' }, 'UnpinOrTrigger'],
  ['pinned by its digest alone', { image: pinned, state: 'Refused', action: 'rebase', reason: 'ImageHasNoTag' }, 'UnpinOrTrigger'],
  ['pinned, its rebuild requested', { image: pinned, state: 'Requested', action: 'trigger' }, 'BringDigest'],
  ['its rebuild requested', { state: 'Requested', action: 'trigger' }, 'WaitForRebuild'],
  ['its rebuild requested, of an init container', { state: 'Requested', action: 'trigger', uses: ['InitContainer'] }, 'BringToInit'],
  ['its tag is old', { state: 'Behind', action: 'restart', base: '21.0.6@sha256:old' }, 'PushTag'],
  ['its tag is new, and its pods are old', { state: 'Behind', action: 'restart', base: `21.0.7@${selected}` }, 'RestartPods'],
  ['a rule', { state: 'Refused', action: 'rebase', reason: 'EntrypointChanged' }, 'AllowOrRebuild'],
  ['something that no rule allows', { state: 'Refused', action: 'rebase', reason: 'LayersDiffer' }, 'Correct'],
  ['no source', { state: 'Behind', action: 'trigger', reason: 'SourceUnknown' }, 'NameSource'],
  ['not accepted by the CI system yet', { state: 'Requested', action: 'trigger', reason: 'RebuildPending' }, 'AwaitAcceptance'],
  ['refused by the CI system', { state: 'Failed', action: 'trigger', reason: 'RebuildRefused' }, 'CorrectTrigger'],
  ['a rebuild that is late', { state: 'RebuildOverdue', action: 'trigger', reason: 'RebuildOverdue' }, 'ReadPipeline'],
  ['a rollout that failed', { state: 'Failed', action: 'rebase', reason: 'RolloutFailed' }, 'ReadRollout'],
  ['a base that failed', { state: 'Behind', action: 'trigger', reason: 'BaseRejected' }, 'MendBase'],
  ['an approval', { state: 'Behind', action: 'rebase', reason: 'ApprovalRequired' }, 'Approve'],
  ['a dry run', { state: 'Behind', action: 'rebase', reason: 'DryRun' }, 'LeaveDryRun'],
  ['a base in between', { state: 'Behind', reason: 'BaseBetween' }, 'BringBetween'],
  ['a window', { state: 'Behind', action: 'restart', reason: 'Window' }, 'WaitForWindow'],
  ['a fault', { state: 'Behind', action: 'rebase', reason: 'Retrying' }, 'WaitForRetry'],
  ['a fault while the tag is new', { state: 'Current', action: 'restart', reason: 'Retrying' }, 'WaitForRetry'],
  ['a wave', { state: 'Rebased', action: 'rebase' }, 'WaitForWave'],
  ['a wave of rebuilds', { state: 'Requested', action: 'trigger', reason: 'WavePending' }, 'WaitForWave'],
  ['a rollout', { state: 'Updating', action: 'rebase' }, 'WaitForRollout'],
  ['not recognized', { state: 'Unknown' }, 'NameBase'],
  ['another line', { state: 'OtherLine' }, 'NameLine'],
];

for (const [name, subject, step] of rows)
  test(`the next step for a workload in the case "${name}" is ${step}`, () => {
    assert.equal(nextStepOf({ image: tagged, state: 'Behind', ...subject }, selected), step);
  });

test('the cases of this test reach every next step', () => {
  const reached = new Set(rows.map(([, , step]) => step));
  assert.deepEqual(
    Object.keys(baseSteps).filter((step) => !reached.has(step as BaseStep)),
    [],
  );
});
