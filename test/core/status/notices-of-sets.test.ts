/** What is reported about images that are changed together: all of them, with what ran before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notice } from '../../../src/core/model/notice.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { endedApproval } from '../../../src/core/status/ended-approvals.ts';
import { policyNotices } from '../../../src/core/status/policy-notices.ts';
import { digestOf, policyOf } from '../model/samples.ts';

const at = '2026-11-23T12:00:00Z';
const [own, other, set, otherSet] = ['a', 'b', 'c', 'd'].map(digestOf) as [string, string, string, string];
const web = 'r.example.com/shop/web';
const proxy = 'r.example.com/shop/proxy';
const deployment = { kind: 'Deployment', namespace: 'shop', name: 'web', container: 'web' } as const;

const entry = (more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  ...deployment,
  from: `${web}:1.0.0`,
  to: `${web}:1.1.0`,
  tag: '1.1.0',
  digest: own,
  setDigest: set,
  alongside: [{ container: 'proxy', from: `${proxy}:1.0.0`, to: `${proxy}:1.1.0` }],
  trigger: 'Webhook',
  at,
  result: 'Applied',
  ...more,
});
const forth = { from: `${proxy}:1.0.0`, to: `${proxy}:1.1.0` };

function noticesOf(before: PolicyStatus, after: PolicyStatus): Notice[] {
  return policyNotices(policyOf(), { before, after }, at).map(({ notice }) => notice);
}

/** The parts of a notice that name images. */
const images = ({ kind, digest, setDigest, from, alongside }: Notice) => ({ kind, digest, setDigest, from, alongside });

test('the notice of a change names the images of the companions, each pair once for all workloads', () => {
  const history = [entry(), entry({ name: 'api' })];
  assert.deepEqual(noticesOf({}, { history }).map(images), [
    { kind: 'Updated', digest: own, setDigest: set, from: [`${web}:1.0.0`], alongside: [forth] },
  ]);
});

test('notices of a failure and its rollback give the reason of their own set, not of another set with the same image', () => {
  const failed = entry({ result: 'Failed' });
  const rejection = (setDigest: string, reason: string) => ({ digest: own, setDigest, tag: '1.1.0', reason, at });
  const rejected = [rejection(otherSet, 'PullFailed'), rejection(set, 'CrashLoop')];
  const [failure] = noticesOf({ history: [entry()] }, { history: [failed], rejected });
  assert.deepEqual([failure?.kind, failure?.reason, failure?.alongside], ['RolloutFailed', 'CrashLoop', [forth]]);
  const back = entry({
    trigger: 'Rollback',
    from: `${web}:1.1.0`,
    to: `${web}:1.0.0`,
    tag: '1.0.0',
    digest: other,
    setDigest: otherSet,
    alongside: [{ container: 'proxy', from: `${proxy}:1.1.0`, to: `${proxy}:1.0.0` }],
  });
  const [rollback] = noticesOf({ history: [failed], rejected }, { history: [back, { ...failed, result: 'RolledBack' }], rejected });
  assert.deepEqual(
    [rollback?.kind, rollback?.reason, rollback?.undone, rollback?.alongside],
    ['RolledBack', 'CrashLoop', own, [{ from: `${proxy}:1.1.0`, to: `${proxy}:1.0.0` }]],
  );
});

test('the notice of the rollback of a companion alone is about the failed change, not about the rollback itself', () => {
  const failed = entry({ from: `${web}:1.1.0`, result: 'RolledBack' });
  const back = entry({
    from: `${web}:1.1.0`,
    trigger: 'Rollback',
    at: '2026-11-23T12:05:00Z',
    setDigest: otherSet,
    alongside: [{ container: 'proxy', from: `${proxy}:1.1.0`, to: `${proxy}:1.0.0` }],
  });
  const rejected = [{ digest: own, setDigest: set, tag: '1.1.0', reason: 'CrashLoop', at }];
  const [found] = noticesOf({ history: [failed], rejected }, { history: [back, failed], rejected });
  assert.deepEqual([found?.kind, found?.reason, found?.share], ['RolledBack', 'CrashLoop', { count: 1, total: 1 }]);
});

test('two sets with the same own image cause two notices with different identities', () => {
  const second = entry({
    name: 'api',
    setDigest: otherSet,
    alongside: [{ container: 'proxy', from: `${proxy}:1.0.0`, to: `${proxy}:1.2.0` }],
  });
  const found = policyNotices(policyOf(), { before: {}, after: { history: [second, entry()] } }, at);
  assert.deepEqual(
    found.map(({ notice }) => notice.alongside?.map(({ to }) => to)),
    [[`${proxy}:1.2.0`], [`${proxy}:1.1.0`]],
  );
  assert.equal(new Set(found.map(({ identity }) => JSON.stringify(identity))).size, 2);
});

const pending: PolicyStatus = {
  pendingApproval: { tag: '1.1.0', digest: set, images: [`${web}@${own}`, `${proxy}@${other}`] },
  latest: { tag: '1.1.0', digest: own, setDigest: set, companions: [{ image: proxy, tag: '1.1.0', digest: other }], selectedAt: at },
  targets: [
    { ...deployment, image: `${web}:1.0.0`, state: 'Kept' },
    { ...deployment, container: 'proxy', image: `${proxy}:1.0.0`, companion: true, state: 'Kept' },
  ],
};
const asked = {
  digest: own,
  setDigest: set,
  from: [`${web}:1.0.0`],
  alongside: [{ from: `${proxy}:1.0.0`, to: `${proxy}:1.1.0@${other}` }],
};

test('the notice about a missing approval names the digests of image and set, and what each image would replace', () => {
  assert.deepEqual(noticesOf({}, pending).map(images), [{ kind: 'ApprovalRequired', ...asked }]);
});

test('a rejected set stops waiting for approval once, and the same image with another companion waits again', () => {
  const rejected = [{ digest: own, setDigest: set, tag: '1.1.0', reason: 'RejectedByUser', message: 'rejected by ada', at }];
  const { pendingApproval: _, ...rest } = pending;
  const ended = noticesOf(pending, { ...rest, rejected });
  assert.deepEqual(
    ended.map(({ kind, reason }) => [kind, reason]),
    [['ApprovalEnded', 'RejectedByUser']],
  );
  assert.deepEqual(ended.map(images), [{ kind: 'ApprovalEnded', ...asked }]);
  const next = { tag: '1.1.0', digest: otherSet, images: [`${web}@${own}`, `${proxy}@${set}`] };
  assert.equal(endedApproval(pending, { ...pending, pendingApproval: next })?.reason, 'ApprovalSuperseded');
  assert.equal(endedApproval(pending, { ...rest }), undefined, 'what was approved is still selected');
});

test('the notice of an image without companions names neither a set nor companions', () => {
  const { alongside: _, setDigest: __, ...alone } = entry();
  const [found] = noticesOf({}, { history: [alone] });
  assert.deepEqual([found?.setDigest, found?.alongside], [undefined, undefined]);
});
