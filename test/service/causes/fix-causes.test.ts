/** Fixes that wait, as causes: each image once, with the policies that do not apply it and the one thing to do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { Condition, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { orderCauses } from '../../../src/service/causes/cause.ts';
import { policyCauses } from './causes-of.ts';
import { assessmentOf, containerOf, running, vulnerabilities } from '../../core/model/assessments.ts';
import { digestOf, policyOf, specOf } from '../../core/model/samples.ts';

const now = Date.parse('2026-11-29T12:30:00Z');
const until = '2026-12-06T12:00:00Z';
const image = { tag: '1.4.2', digest: digestOf('b') };
const condition = (type: string, reason: string): Condition => ({
  type,
  status: 'True',
  reason,
  message: `${reason}!`,
  lastTransitionTime: '2026-11-29T12:00:00Z',
});
const waits = (reason: string): PolicyStatus => ({ waiting: { ...image, until, reason }, conditions: [condition('Reconciling', reason)] });
const approval: PolicyStatus = { pendingApproval: image, conditions: [condition('ApprovalRequired', 'ApprovalRequired')] };
const policy = (key: string, status: PolicyStatus, spec: Partial<PolicySpec> = {}, assessed = assessmentOf()) => {
  const [namespace = '', name = ''] = key.split('/');
  const known: PolicyStatus = {
    vulnerabilities: [assessed],
    targets: [containerOf()],
    latest: { ...image, selectedAt: '2026-11-29T11:00:00Z' },
  };
  return policyOf({ namespace, name, uid: key, spec: specOf(spec), status: { ...known, ...status } });
};
const causesOf = (...policies: readonly ReturnType<typeof policy>[]) => orderCauses(policyCauses(policies, now));
const short = (...policies: readonly ReturnType<typeof policy>[]) =>
  causesOf(...policies).map(({ reason, urgency, step, policies: reached }) => `${reason} ${urgency} ${step} ${reached.length}`);

test('an image with a fix is one cause for all policies that do not apply it', () => {
  const [cause, ...others] = causesOf(policy('shop/web', waits('MinAge')), policy('eu/web', waits('MinAge')));
  assert.deepEqual(others, []);
  assert.deepEqual(cause, {
    id: `image/FixAvailable/registry.example.com/shop/web@${image.digest}`,
    kind: 'image',
    urgency: 'Warning',
    subject: 'registry.example.com/shop/web:1.4.2',
    reason: 'FixAvailable',
    message: `${running} runs now: MinAge!`,
    since: '2026-11-29T11:00:00Z',
    policies: [
      { namespace: 'shop', name: 'web' },
      { namespace: 'eu', name: 'web' },
    ],
    rollouts: undefined,
    fixes: [{ id: 'CVE-2026-1', severity: 'Critical' }],
    step: 'skipWait',
    command: 'kubectl edit imagepolicy -n shop web',
  });
});

test('the next step of a cause follows from what the fix waits for', () => {
  assert.deepEqual(short(policy('a/a', approval)), ['FixAvailable Blocked approve 1']);
  assert.deepEqual(short(policy('a/a', waits('Window'))), ['FixAvailable Warning skipWait 1']);
  assert.deepEqual(short(policy('a/a', waits('Window'), { windowsUnless: { fixes: 'Critical' } })), ['FixAvailable Warning explain 1']);
  assert.deepEqual(short(policy('a/a', waits('MinAge'), { minAgeUnless: { fixes: 'Critical' } })), ['FixAvailable Warning explain 1']);
  assert.deepEqual(short(policy('a/a', waits('MinAge'), { suspended: true })), ['FixAvailable Warning unsuspend 1']);
  assert.deepEqual(short(policy('a/a', { conditions: [condition('Ready', 'DryRun')] })), ['FixAvailable Warning explain 1']);
  const commands = [approval, { conditions: [condition('Ready', 'Suspended')] }].map(
    (status) => causesOf(policy('a/a', status))[0]?.command,
  );
  assert.deepEqual(commands, ['image-watcher approve a/a', 'image-watcher resume a/a']);
});

test('a hold of one policy is part of the cause of its fix, and a problem shared with other policies is a cause of its own', () => {
  const held: PolicyStatus = { conditions: [condition('Held', 'Held')] };
  assert.deepEqual(short(policy('a/a', held)), ['FixAvailable Warning release 1']);
  const lost: PolicyStatus = { ...approval, conditions: [condition('Stalled', 'RegistryDenied')] };
  assert.deepEqual(short(policy('a/a', lost)), ['FixAvailable Blocked giveCredentials 1', 'RegistryDenied Blocked giveCredentials 1']);
});

test('policies that hold back one fix for different reasons are one cause, whose step is to explain them', () => {
  assert.deepEqual(short(policy('a/a', approval), policy('b/b', waits('MinAge')), policy('c/c', waits('MinAge'))), [
    'FixAvailable Blocked explain 3',
  ]);
  const [cause] = causesOf(
    policy('a/a', approval, {}, assessmentOf({ fixes: vulnerabilities('CVE-2 High') })),
    policy('b/b', waits('MinAge')),
  );
  assert.deepEqual(
    cause?.fixes?.map(({ id }) => id),
    ['CVE-2026-1', 'CVE-2'],
  );
});

test('critical fixes come before blocked policies, and other fixes are ordered by their urgency', () => {
  const stalled = policyOf({ namespace: 'z', name: 'z', uid: 'z', status: { conditions: [condition('Stalled', 'InvalidPolicy')] } });
  const high = policy(
    'b/b',
    waits('MinAge'),
    { repository: { registry: 'r.example.com', path: 'b' } },
    assessmentOf({ fixes: vulnerabilities('CVE-2 High') }),
  );
  assert.deepEqual(short(high, stalled, policy('a/a', waits('MinAge'))), [
    'FixAvailable Warning skipWait 1',
    'InvalidPolicy Blocked correctPolicy 1',
    'FixAvailable Warning skipWait 1',
  ]);
});

test('an image that is applied, or fixes nothing severe, is no cause', () => {
  const applied: PolicyStatus = {
    targets: [containerOf({ image: 'registry.example.com/shop/web:1.4.2', state: 'UpToDate' })],
    conditions: [condition('Ready', 'UpToDate')],
  };
  assert.deepEqual(short(policy('a/a', applied)), []);
  assert.deepEqual(short(policy('a/a', waits('MinAge'), {}, assessmentOf({ fixes: vulnerabilities('CVE-2 Low') }))), []);
});
