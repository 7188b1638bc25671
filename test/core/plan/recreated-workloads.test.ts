/** What is known of a workload is not true of another one that was created under its name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rollbacksOf } from '../../../src/core/rollout/automatic-rollback.ts';
import { rolloutStatesOf } from '../../../src/core/rollout/count-rollouts.ts';
import { currentRollouts } from '../../../src/core/rollout/current-rollouts.ts';
import { held } from '../../../src/core/plan/guards/held.ts';
import { lastChange, pastOf } from '../../../src/core/plan/guards/last-change.ts';
import { rewritten } from '../../../src/core/plan/guards/rewritten.ts';
import { nextHistory } from '../../../src/core/status/next-history.ts';
import type { Outcome } from '../../../src/core/plan/outcome.ts';
import type { HistoryEntry } from '../../../src/core/model/policy-status.ts';
import { rolloutConditions } from '../../../src/core/status/condition-states.ts';
import type { WorkloadIdentity } from '../../../src/core/model/workload.ts';
import { contextOf, evaluateGuards } from './guards/context.ts';
import {
  afterChange,
  changedWorkload,
  changedAt,
  rolloutOwnerOf,
  entryOf,
  stuckRollout,
  image,
  rolledOut,
  snapshotFrom,
} from '../rollout/rollout-samples.ts';
import { digestOf, noSources, policyOf, thisDeployment, webDeployment, workloadOf } from '../model/samples.ts';

const formerDeployment = { ...webDeployment, uid: 'uid-of-the-former-one' };
/** Whether something holds for an entry of the former workload, of this one, and of one whose uid nobody wrote down. */
const holdsFor = (isSo: (entry: HistoryEntry) => boolean, entry: Partial<HistoryEntry> = {}) =>
  [formerDeployment, thisDeployment, webDeployment].map((identity) => isSo(entryOf({ ...entry, ...identity })));
const ofThisOne = [false, true, true];

test('a recreated workload is held, or taken for rewritten by admission, only after a change of its own', () => {
  const byHand = { image: `${image}:1.2.3`, imageOwner: 'helm-v0-by-hand' };
  assert.deepEqual(
    holdsFor((entry) => evaluateGuards({ runs: byHand, status: { history: [entry] } }, held).blocked?.reason === 'Held'),
    ofThisOne,
  );
  const hardenedImage = { to: `${image}:1.3.0-hardened` };
  const runs = { image: hardenedImage.to, imageOwner: 'image-watcher' };
  assert.deepEqual(
    holdsFor((entry) => evaluateGuards({ runs, status: { history: [entry] } }, rewritten).blocked?.reason === 'UpToDate', hardenedImage),
    ofThisOne,
  );
});

test('a change in this reconcile was made to the workload that existed then', () => {
  const changes = [formerDeployment, thisDeployment].map((workload) => {
    const applied = [{ workload, container: 'web', index: 0, from: `${image}:1.2.3`, to: `${image}:1.3.0` }];
    return lastChange({ target: webDeployment, workload: workloadOf({ web: `${image}:1.2.3` }) }, 'web', contextOf({ applied }));
  });
  assert.deepEqual([changes[0], changes[1]?.image], [undefined, `${image}:1.3.0`]);
});

test('the policy starts over with a recreated workload, whatever it runs', () => {
  const branch = `${image}:branch`;
  const workload = workloadOf({ web: branch });
  const startsOver = (entry: HistoryEntry) =>
    pastOf(policyOf({ status: { history: [entry] } })).startsOver?.(workload, 'web', branch) !== undefined;
  assert.deepEqual(holdsFor(startsOver), [true, false, false]);
  assert.equal(startsOver(entryOf({ name: 'other' })), false);
});

test('neither the rollout nor former failures of a recreated workload are attributed to the policy', () => {
  const running = changedWorkload(stuckRollout);
  assert.deepEqual(
    holdsFor((entry) => {
      const policy = rolloutOwnerOf({ history: [entry] });
      return currentRollouts(policy, snapshotFrom(policy, [running])).length > 0;
    }),
    ofThisOne,
  );
  assert.deepEqual(
    holdsFor((entry) => rollbacksOf(rolloutOwnerOf({ history: [entry] }), running, noSources).length > 0, { result: 'Failed' }),
    ofThisOne,
  );
});

test('a rollback is reported for the workload where it happened', () => {
  const back = { from: `${image}:1.3.0`, to: `${image}:1.2.3`, digest: digestOf('a'), trigger: 'Rollback', result: 'RolledOut' } as const;
  const rejected = [{ digest: entryOf().digest ?? '', reason: 'CrashLoop', at: changedAt }];
  const isSaid = (entry: HistoryEntry) => {
    const failed = entryOf({ result: 'RolledBack', ...(entry.uid !== undefined && { uid: entry.uid }) });
    const latest = { tag: '1.3.0', digest: entryOf().digest ?? '', selectedAt: changedAt };
    const policy = rolloutOwnerOf({ latest, history: [entry, failed], rejected });
    const standings = rolloutStatesOf(policy, snapshotFrom(policy, [changedWorkload(rolledOut, {}, '1.2.3')]));
    return rolloutConditions(policy, standings, afterChange(60)).instead?.[0]?.reason === 'RejectedDigest';
  };
  assert.deepEqual(holdsFor(isSaid, back), ofThisOne);
});

test('the same change of another workload is a separate entry, even within the same second', () => {
  const outcome: Outcome = { kind: 'updated', reason: 'Updated', message: '', tag: '1.3.0' };
  const change = { container: 'web', index: 0, from: `${image}:1.2.3`, to: `${image}:1.3.0` };
  const written = (workload: WorkloadIdentity, history: readonly HistoryEntry[] = []) =>
    nextHistory({ history }, { ...outcome, changes: [{ ...change, workload }] }, 'Webhook', afterChange(0));
  const first = written(formerDeployment) ?? [];
  assert.deepEqual(
    written(thisDeployment, first)?.map(({ uid }) => uid),
    [thisDeployment.uid, formerDeployment.uid],
  );
  assert.equal(written(formerDeployment, first), undefined);
  const own = { workload: thisDeployment, container: 'web', image: change.to };
  assert.equal(nextHistory({ history: first }, { ...outcome, ours: [own] }, 'Webhook', afterChange(1))?.length, 2);
});
