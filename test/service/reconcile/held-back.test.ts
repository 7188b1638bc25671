/** A policy that keeps its image back names all that does so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { Condition, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { runningImages } from '../../../src/core/plan/running-images.ts';
import { neededReconciles } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { digestOf, policyOf, workloadOf } from '../../core/model/samples.ts';
import { createWorld, image, setWorkload, startTime } from './world.ts';

const held = (type: 'Held' | 'ApprovalRequired' | 'Ready', reason: string): Condition => ({
  type,
  status: 'True',
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const latest = { tag: '1.4.0', digest: digestOf('a'), selectedAt: '2026-01-01T00:00:00Z' };
const causesOf = (status: PolicyStatus, paused: boolean, release?: string) => {
  const world = createWorld();
  setWorkload(world, { web: `${image}:1.2.3` }, { paused });
  const policy: ImagePolicy = policyOf({
    status: { observedGeneration: 1, latest, ...status },
    ...(release !== undefined && { actions: { release } }),
  });
  return neededReconciles(policy, asSeenBy(policy, world.ports.cluster), { now: new Date(startTime), withNew: false }).map(
    ({ cause }) => cause.split(':')[0],
  );
};

test('a target that is paused while an approval is missing causes a reconcile', () => {
  const conditions = [held('ApprovalRequired', 'ApprovalRequired')];
  assert.ok(causesOf({ conditions }, true).includes('paused'));
  assert.ok(!causesOf({ conditions }, false).includes('paused'));
  assert.ok(!causesOf({ conditions: [...conditions, held('Held', 'TargetPaused')] }, true).includes('paused'));
  assert.ok(!causesOf({}, true).includes('paused'), 'nothing is kept back');
});

test('a target that is paused while its image is stopped for a reason that is shown in Ready alone causes a reconcile', () => {
  for (const reason of ['NotProven', 'DryRun', 'ChangeReverted', 'CompanionMissing', 'TooManyChanges', 'RetriesExhausted'])
    assert.ok(causesOf({ conditions: [held('Ready', reason)] }, true).includes('paused'), reason);
  assert.ok(!causesOf({ conditions: [held('Ready', 'NotProven')] }, false).includes('paused'));
  assert.ok(!causesOf({ conditions: [held('Ready', 'UpToDate')] }, true).includes('paused'));
});

test('an image that fails on one target while it is held on another one causes a reconcile', () => {
  const rejected = [{ digest: digestOf('a'), tag: '1.4.0', reason: 'CrashLoop', at: '2026-01-01T00:00:00Z' }];
  const causes = (reason: string, images = rejected, release?: string) =>
    causesOf({ conditions: [held('Held', reason)], rejected: images }, false, release);
  for (const reason of ['TargetPaused', 'CheckFailed', 'OnHold']) {
    assert.ok(causes(reason).includes('rejected'), reason);
    assert.ok(!causes(reason, [{ ...rejected[0]!, digest: digestOf('b') }]).includes('rejected'), `${reason}, and another image failed`);
    assert.ok(!causes(reason, rejected, '2026-01-01T00:00:01Z').includes('rejected'), `${reason}, and it is released`);
  }
  assert.ok(!causes('RejectedDigest').includes('rejected'), 'the status says so');
});

test('a rejected image that runs nowhere, of which nothing is said, causes a reconcile', () => {
  const rejected = [{ digest: digestOf('a'), tag: '1.4.0', reason: 'RollbackRequested', at: '2026-01-01T00:00:00Z' }];
  const causes = (reason: string, upToDate: number) =>
    causesOf({ conditions: [held('Ready', reason)], rejected, targetCounts: { total: 1, upToDate, problems: 0 } }, false);
  assert.ok(causes('UpToDate', 0).includes('rejected'));
  assert.ok(!causes('UpToDate', 1).includes('rejected'), 'it runs');
  assert.ok(!causes('RejectedDigest', 0).includes('rejected'), 'the status says so');
});

test('a plan is outdated if an image was replaced and set again in between', () => {
  const lastUpdate = {
    policy: 'p',
    at: '2026-01-01T00:00:00.000Z',
    trigger: 'Webhook',
    from: `${image}:1.2.3`,
    to: `${image}:1.3.0`,
  } as const;
  const texts = [
    { image: `${image}:1.2.3` },
    { image: `${image}:1.2.3`, imageOwner: 'kubectl-set' },
    { image: `${image}:1.2.3`, imageOwner: 'kubectl-set', lastUpdate },
  ].map((web) => runningImages([workloadOf({ web })]));
  assert.equal(new Set(texts).size, 3);
});
