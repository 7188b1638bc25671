import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImagePolicy } from '../../src/model/image-policy.ts';
import type { HistoryEntry, PolicyStatus } from '../../src/model/policy-status.ts';
import type { Workload } from '../../src/model/workload.ts';
import { rolloutJob } from '../../src/reconcile/next-rollout-check.ts';
import { policyOf, webDeployment } from '../model/samples.ts';
import { after, changed, entryOf, givenUp, out, viewOf, watchedSpec } from '../rollout/rollout-samples.ts';

const policyWith = (entry: Partial<HistoryEntry> = {}, onFailure: 'Rollback' | 'Hold' | 'Ignore' = 'Rollback', status: PolicyStatus = {}) =>
  policyOf({ spec: watchedSpec(onFailure), status: { observedGeneration: 1, history: [entryOf(entry)], ...status } });
const ask = (policy: ImagePolicy, workload: Workload | undefined, seconds = 1) => {
  const job = rolloutJob(policy, viewOf(workload), after(seconds));
  if (job === undefined) return 'sleeps';
  return job.notBefore === undefined ? 'now' : `after ${(Date.parse(job.notBefore) - after(0).getTime()) / 1_000} s`;
};

const refusedAt = (seconds: number) => ({ reason: 'RollbackRefused', message: 'no consent', at: after(seconds).toISOString() });

const rows: [name: string, policy: ImagePolicy, workload: Workload | undefined, expected: string, seconds?: number][] = [
  ['a change under way', policyWith(), changed(), 'after 5 s'],
  ['under way for longer', policyWith(), changed(), 'after 15 s', 5],
  ['under way for minutes', policyWith(), changed(), 'after 195 s', 140],
  ['near its end', policyWith(), changed(), 'after 600 s', 570],
  ['whose time is over, and no controller was there', policyWith(), changed({ observedGeneration: 1 }), 'after 675 s', 620],
  ['whose time is over, and pods may be younger', policyWith(), changed({ updated: 1 }), 'after 615 s', 600],
  ['out', policyWith(), changed(out), 'now'],
  ['given up', policyWith(), changed(givenUp), 'now'],
  ['whose workload is gone', policyWith(), undefined, 'sleeps'],
  ['that somebody else overtook', policyWith(), changed({}, {}, '1.1.0'), 'sleeps'],
  ['that is known to be out', policyWith({ result: 'RolledOut' }), changed(out), 'sleeps'],
  ['that nobody can watch', policyWith(), changed({ standsStill: 'it is paused' }), 'sleeps'],
  ['that failed, to be put back', policyWith({ result: 'Failed' }), changed(givenUp), 'now'],
  ['that failed, and was put back unnoticed', policyWith({ result: 'Failed' }), changed({}, {}, '1.2.3'), 'now'],
  ['that failed, held', policyWith({ result: 'Failed' }, 'Hold'), changed(givenUp), 'sleeps'],
  ['that failed, ignored', policyWith({ result: 'Failed' }, 'Ignore'), changed(givenUp), 'sleeps'],
  ['that failed, and came out after all', policyWith({ result: 'Failed' }, 'Hold'), changed(out), 'now'],
  ['put back, under way', policyWith({ trigger: 'Rollback' }), changed(), 'after 5 s'],
  ['put back, and failed too', policyWith({ trigger: 'Rollback', result: 'Failed' }), changed(givenUp), 'sleeps'],
  ['that failed, of a workload that is no target', policyWith({ result: 'Failed', name: 'api' }), undefined, 'now'],
  ['that failed, of another repository', policyWith({ result: 'Failed', from: 'evil:1' }), changed(givenUp), 'now'],
  [
    'the same, and it was said',
    policyWith({ result: 'Failed', from: 'evil:1', rollbackRefused: refusedAt(0) }),
    changed(givenUp),
    'sleeps',
  ],
  ['that failed, and was just refused', policyWith({ result: 'Failed', rollbackRefused: refusedAt(0) }), changed(givenUp), 'after 10 s', 1],
  ['refused for minutes', policyWith({ result: 'Failed', rollbackRefused: refusedAt(0) }), changed(givenUp), 'after 640 s', 400],
  ['refused for a day', policyWith({ result: 'Failed', rollbackRefused: refusedAt(0) }), changed(givenUp), 'sleeps', 86_400],
  [
    'refused, and rolled back by us all the same',
    policyWith({ result: 'Failed', rollbackRefused: refusedAt(0) }),
    changed({}, {}, '1.2.3'),
    'now',
  ],
  [
    'of a policy that is suspended',
    policyOf({ ...policyWith(), spec: watchedSpec('Rollback', { suspended: true }) }),
    changed(out),
    'sleeps',
  ],
  ['of a policy that watches nothing', policyOf({ status: { history: [entryOf()] } }), changed(out), 'sleeps'],
];

for (const [name, policy, workload, expected, seconds] of rows) {
  test(`a change ${name}: ${expected}`, () => assert.equal(ask(policy, workload, seconds), expected));
}

test('a policy that says "Progressing" although nothing is any more wants to be put right', () => {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Progressing', message: '', lastTransitionTime: '' }] as const;
  assert.equal(ask(policyWith({ result: 'RolledOut' }, 'Rollback', { conditions }), changed(out)), 'now');
});

test('replicas that see the same make the same job; what was done without effect is tried again under another name', () => {
  const causeAt = (seconds: number, workload = changed(out)) => rolloutJob(policyWith(), viewOf(workload), after(seconds))?.cause;
  assert.equal(causeAt(100), causeAt(101));
  assert.notEqual(causeAt(100), causeAt(400));
  assert.notEqual(causeAt(100), causeAt(100, changed(givenUp)));
  assert.equal(causeAt(1, changed()), causeAt(2, changed()));
  assert.notEqual(causeAt(1, changed()), causeAt(6, changed()));
});

test('several rollouts: the one that wants it first', () => {
  const other = entryOf({ name: 'worker', at: '2026-03-01T11:59:57Z' });
  const targets = [webDeployment, { ...webDeployment, name: 'worker' }];
  const policy = policyOf({ spec: watchedSpec('Rollback', { targets }), status: { history: [entryOf(), other] } });
  const both = (web = {}) => [changed(web, { name: 'web', uid: 'web' }), changed({}, { name: 'worker', uid: 'worker' })];
  const job = rolloutJob(policy, viewOf(...both()), after(1));
  assert.equal(job?.notBefore, after(2).toISOString());
  const done = rolloutJob(policy, viewOf(...both(out)), after(1));
  assert.deepEqual([done?.notBefore, done?.task, done?.source], [undefined, 'rollout', 'TargetChange']);
});
