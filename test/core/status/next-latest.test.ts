/** `status.latest` after a change whose selection was not reported: reports come in any order, and some never. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { fieldManager, type LastUpdate } from '../../../src/core/model/last-update.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { nextStatus } from '../../../src/core/status/next-status.ts';
import type { Outcome } from '../../../src/core/plan/outcome.ts';
import { digestOf, latestSpec, policyOf, specOf, webDeployment, workloadOf } from '../model/samples.ts';
import { viewOf } from '../rollout/rollout-samples.ts';
import { cause, image, reconcileTime, suspendedOutcome, updatedOutcome } from './outcomes.ts';

const at = '2026-03-01T11:59:58.000Z';
const old = { tag: '1.2.0', digest: digestOf('b'), selectedAt: '2026-03-01T11:00:00Z' };
const status: PolicyStatus = { observedGeneration: 1, latest: old };
const uid = policyOf().uid;

const recordOf = (to: string, more: Partial<LastUpdate> = {}): LastUpdate => ({
  policy: uid,
  at,
  trigger: 'Webhook',
  from: `${image}:1.2.0`,
  to: `${image}:${to}`,
  digest: digestOf('a'),
  ...more,
});
const change = (update: LastUpdate) => ({
  workload: webDeployment,
  container: 'web',
  index: 0,
  from: update.from,
  to: update.to,
  update,
});
/** The policy was suspended during the reconcile that had made this change. */
const suspendedAfter = (update: LastUpdate): Outcome => ({ ...suspendedOutcome, changes: [change(update)] });
/** The policy was suspended before anything was reported, and the process that made the change is gone. */
const seen = (to: string, update: LastUpdate, namespace = 'shop') =>
  viewOf(workloadOf({ web: { image: `${image}:${to}`, imageOwner: fieldManager, lastUpdate: update } }, { namespace }));
const latestAfter = (outcome: Outcome, spec: PolicySpec = specOf(), before = status, view = viewOf()) =>
  nextStatus(policyOf({ generation: 2, status: before, spec }), outcome, { cause, now: reconcileTime }, view)?.latest ?? before.latest;

const applied = { tag: '1.3.0', digest: digestOf('a'), selectedAt: at };

test('a change counts as selected whether it is reported before or after the suspension of the policy', () => {
  const suspended: PolicyStatus = { ...status, observedGeneration: 2 };
  const made: Outcome = { ...updatedOutcome, changes: [change(recordOf('1.3.0'))] };
  const late = nextStatus(policyOf({ status: suspended }), made, { cause, now: reconcileTime });
  assert.deepEqual(late?.latest, applied);
  assert.equal(late.conditions, suspended.conditions, 'the conditions of the later generation stay');
  const early = nextStatus(policyOf({ status }), made, { cause, now: reconcileTime });
  const { selectedAt: _, ...selected } = early?.latest ?? old;
  assert.deepEqual(selected, { tag: '1.3.0', digest: digestOf('a') });
});

test('a reconcile that ends early because of a suspension still selects what it applied', () => {
  assert.deepEqual(latestAfter(suspendedAfter(recordOf('1.3.0'))), applied);
  assert.deepEqual(latestAfter(suspendedAfter(recordOf('1.3.0')), specOf(), {}), applied, 'nothing was selected before');
});

test('a suspended policy shows what it has selected when its workload records a change that nobody reported', () => {
  assert.deepEqual(latestAfter(suspendedOutcome, specOf(), status, seen('1.3.0', recordOf('1.3.0'))), applied);
  assert.deepEqual(latestAfter(suspendedOutcome, specOf(), status, seen('1.1.0', recordOf('1.3.0'))), applied, 'somebody went back since');
});

test('the digest of a followed tag counts as selected once it was applied before a suspension', () => {
  const followed = { tag: 'latest', digest: digestOf('b'), selectedAt: old.selectedAt };
  const next = latestAfter(suspendedAfter(recordOf(`latest@${digestOf('a')}`)), latestSpec(), { latest: followed });
  assert.deepEqual(next, { tag: 'latest', digest: digestOf('a'), selectedAt: at });
});

const kept: [name: string, outcome: Outcome, view?: ReturnType<typeof viewOf>][] = [
  ['a failed rollout went back', suspendedAfter(recordOf('1.3.0', { trigger: 'Rollback', failed: digestOf('c') }))],
  ['a user went back', suspendedAfter(recordOf('1.3.0', { trigger: 'Rollback', left: digestOf('c') }))],
  ['an older image was applied', suspendedAfter(recordOf('1.1.0'))],
  ['the image was applied before the selection', suspendedAfter(recordOf('1.3.0', { at: '2026-03-01T10:00:00Z' }))],
  ['another policy changed the workload', suspendedOutcome, seen('1.3.0', recordOf('1.3.0', { policy: 'another' }))],
  ['the record is of the future', suspendedOutcome, seen('1.3.0', recordOf('1.3.0', { at: '2026-04-01T00:00:00Z' }))],
];
for (const [name, outcome, view] of kept)
  test(`the selection stays where ${name}`, () => assert.deepEqual(latestAfter(outcome, specOf(), status, view), old));

test('owners of another namespace cannot say what a policy has selected', () => {
  const elsewhere = specOf({ targets: [{ ...webDeployment, namespace: 'ops' }] });
  assert.deepEqual(latestAfter(suspendedOutcome, elsewhere, status, seen('1.3.0', recordOf('1.3.0'), 'ops')), old);
});
