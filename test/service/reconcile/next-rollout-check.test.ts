import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { rolloutJob } from '../../../src/service/reconcile/rollouts/rollout-job.ts';
import { policyOf, webDeployment } from '../../core/model/samples.ts';
import { afterChange, changedWorkload, entryOf, stuckRollout, rolledOut, viewOf, watchedSpec } from '../../core/rollout/rollout-samples.ts';

const policyWith = (entry: Partial<HistoryEntry> = {}, onFailure: 'Rollback' | 'Hold' | 'Ignore' = 'Rollback', status: PolicyStatus = {}) =>
  policyOf({ spec: watchedSpec(onFailure), status: { observedGeneration: 1, history: [entryOf(entry)], ...status } });
const nextCheck = (policy: ImagePolicy, workload: Workload | undefined, seconds = 1) => {
  const job = rolloutJob(policy, asSeenBy(policy, viewOf(workload)), afterChange(seconds));
  if (job === undefined) return 'sleeps';
  return job.notBefore === undefined ? 'now' : `after ${(Date.parse(job.notBefore) - afterChange(0).getTime()) / 1_000} s`;
};

const refusedAt = (seconds: number) => ({
  reason: 'RollbackRefused',
  message: 'no consent',
  at: afterChange(seconds).toISOString(),
});

const rows: [name: string, policy: ImagePolicy, workload: Workload | undefined, expected: string, seconds?: number][] = [
  ['a change under way', policyWith(), changedWorkload(), 'after 5 s'],
  ['under way for longer', policyWith(), changedWorkload(), 'after 15 s', 5],
  ['under way for minutes', policyWith(), changedWorkload(), 'after 195 s', 140],
  ['near its end', policyWith(), changedWorkload(), 'after 600 s', 570],
  ['whose time is over, and no controller was there', policyWith(), changedWorkload({ observedGeneration: 1 }), 'after 675 s', 620],
  ['whose time is over, and pods may be younger', policyWith(), changedWorkload({ updated: 1 }), 'after 615 s', 600],
  ['out', policyWith(), changedWorkload(rolledOut), 'now'],
  ['given up', policyWith(), changedWorkload(stuckRollout), 'now'],
  ['whose workload is gone', policyWith(), undefined, 'sleeps'],
  ['that somebody else overtook', policyWith(), changedWorkload({}, {}, '1.1.0'), 'sleeps'],
  ['that is known to be out', policyWith({ result: 'RolledOut' }), changedWorkload(rolledOut), 'sleeps'],
  ['that nobody can watch', policyWith(), changedWorkload({ haltedBecause: 'it is paused' }), 'sleeps'],
  ['that failed, to be put back', policyWith({ result: 'Failed' }), changedWorkload(stuckRollout), 'now'],
  ['that failed, and was put back unnoticed', policyWith({ result: 'Failed' }), changedWorkload({}, {}, '1.2.3'), 'now'],
  ['that failed, held', policyWith({ result: 'Failed' }, 'Hold'), changedWorkload(stuckRollout), 'sleeps'],
  ['that failed, ignored', policyWith({ result: 'Failed' }, 'Ignore'), changedWorkload(stuckRollout), 'sleeps'],
  ['that failed, and came out after all', policyWith({ result: 'Failed' }, 'Hold'), changedWorkload(rolledOut), 'now'],
  ['put back, under way', policyWith({ trigger: 'Rollback' }), changedWorkload(), 'after 5 s'],
  ['put back, and failed too', policyWith({ trigger: 'Rollback', result: 'Failed' }), changedWorkload(stuckRollout), 'sleeps'],
  ['that failed, of a workload that is no target', policyWith({ result: 'Failed', name: 'api' }), undefined, 'now'],
  ['that failed, of another repository', policyWith({ result: 'Failed', from: 'evil:1' }), changedWorkload(stuckRollout), 'now'],
  [
    'the same, and it was said',
    policyWith({ result: 'Failed', from: 'evil:1', rollbackRefused: refusedAt(0) }),
    changedWorkload(stuckRollout),
    'sleeps',
  ],
  [
    'that failed, and was just refused',
    policyWith({ result: 'Failed', rollbackRefused: refusedAt(0) }),
    changedWorkload(stuckRollout),
    'after 10 s',
    1,
  ],
  [
    'refused for minutes',
    policyWith({ result: 'Failed', rollbackRefused: refusedAt(0) }),
    changedWorkload(stuckRollout),
    'after 640 s',
    400,
  ],
  ['refused for a day', policyWith({ result: 'Failed', rollbackRefused: refusedAt(0) }), changedWorkload(stuckRollout), 'sleeps', 86_400],
  [
    'refused, and rolled back by us all the same',
    policyWith({ result: 'Failed', rollbackRefused: refusedAt(0) }),
    changedWorkload({}, {}, '1.2.3'),
    'now',
  ],
  [
    'of a policy that is suspended',
    policyOf({ ...policyWith(), spec: watchedSpec('Rollback', { suspended: true }) }),
    changedWorkload(rolledOut),
    'sleeps',
  ],
  ['of a policy that watches nothing', policyOf({ status: { history: [entryOf()] } }), changedWorkload(rolledOut), 'sleeps'],
];

for (const [name, policy, workload, expected, seconds] of rows) {
  test(`the next check of a change ${name} is "${expected}"`, () => assert.equal(nextCheck(policy, workload, seconds), expected));
}

test('a policy that still shows Progressing without any rollout is checked at once', () => {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Progressing', message: '', lastTransitionTime: '' }] as const;
  assert.equal(nextCheck(policyWith({ result: 'RolledOut' }, 'Rollback', { conditions }), changedWorkload(rolledOut)), 'now');
});

test('replicas that see the same state create the same job, and a rollout check without effect is repeated as another job', () => {
  const causeAt = (seconds: number, workload = changedWorkload(rolledOut)) =>
    rolloutJob(policyWith(), asSeenBy(policyWith(), viewOf(workload)), afterChange(seconds))?.cause;
  assert.equal(causeAt(100), causeAt(101));
  assert.notEqual(causeAt(100), causeAt(400));
  assert.notEqual(causeAt(100), causeAt(100, changedWorkload(stuckRollout)));
  assert.equal(causeAt(1, changedWorkload()), causeAt(2, changedWorkload()));
  assert.notEqual(causeAt(1, changedWorkload()), causeAt(6, changedWorkload()));
});

test('the next rollout check is that of the rollout that is due first', () => {
  const other = entryOf({ name: 'worker', at: '2026-03-01T11:59:57Z' });
  const targets = [webDeployment, { ...webDeployment, name: 'worker' }];
  const policy = policyOf({ spec: watchedSpec('Rollback', { targets }), status: { history: [entryOf(), other] } });
  const both = (web = {}) => [changedWorkload(web, { name: 'web', uid: 'web' }), changedWorkload({}, { name: 'worker', uid: 'worker' })];
  const job = rolloutJob(policy, asSeenBy(policy, viewOf(...both())), afterChange(1));
  assert.equal(job?.notBefore, afterChange(2).toISOString());
  const done = rolloutJob(policy, asSeenBy(policy, viewOf(...both(rolledOut))), afterChange(1));
  assert.deepEqual([done?.notBefore, done?.task, done?.source], [undefined, 'rollout', 'TargetChange']);
});
