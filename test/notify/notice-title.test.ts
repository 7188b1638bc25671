/** What a title says about each kind of notice, and how urgent it is. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noticeKinds, type Notice, type NoticeKind } from '../../src/core/model/notice.ts';
import { messageOf } from '../../src/notify/message.ts';
import { titleOf } from '../../src/notify/notice-title.ts';
import { kindsByUrgency, severities, severityOf } from '../../src/core/model/severity.ts';
import { looks } from '../../src/notify/looks.ts';

const at = '2026-11-23T12:00:00Z';
const uid = 'u1';
const policy = { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid } as const;
const base = { kind: 'BaseImagePolicy', namespace: 'platform', name: 'java', uid } as const;
const image = { kind: 'Image', namespace: 'shop', name: 'r.example.com/web:1.2.3', uid } as const;
const workloads = ['Deployment shop/a', 'Deployment shop/b', 'Deployment shop/c'];
const from = ['r.example.com:5000/shop/web:1.4.1'];
const onJava = `r.example.com/java:21.0.2@sha256:${'a'.repeat(64)}`;
const images = { current: 5, behind: 1, refused: 1, unknown: 1 };

const rows: readonly (readonly [NoticeKind, Notice['subject'], Partial<Notice>, string])[] = [
  ['Updated', policy, { tag: '1.4.2', from, workloads }, 'shop/web 1.4.2 replaces 1.4.1 (3 workloads)'],
  ['Updated', policy, { tag: '1.4.2', workloads: ['Deployment shop/a'] }, 'shop/web 1.4.2 was applied (1 workload)'],
  ['Updated', policy, { tag: 'main', from: ['r/web:main'], workloads, hasMore: true }, 'shop/web main was applied (3 or more workloads)'],
  ['Updated', policy, { tag: '1.4.2', from: [...from, 'r.example.com/web:1.3.0'] }, 'shop/web 1.4.2 was applied'],
  ['Updated', base, { tag: '21.0.2', from: ['21.0.1'], images }, 'base platform/java 21.0.2 replaces 21.0.1 (5 of 7 images)'],
  ['RolledOut', policy, { tag: '1.4.2', from, workloads }, 'shop/web 1.4.2 rolled out (3 workloads)'],
  ['RolledOut', image, { tag: '1.2.3-base.1', base: onJava }, 'r.example.com/web:1.2.3 rolled out on r.example.com/java:21.0.2'],
  ['RolloutFailed', policy, { tag: '1.4.2', from, workloads, reason: 'CrashLoop' }, 'shop/web 1.4.2 failed: CrashLoop (3 workloads)'],
  ['RolloutFailed', policy, { tag: '1.4.2', workloads: ['Deployment shop/a'] }, 'shop/web 1.4.2 failed (1 workload)'],
  [
    'RolloutFailed',
    policy,
    { tag: '1.4.2', workloads: ['Deployment shop/a'], share: { count: 1, total: 3 } },
    'shop/web 1.4.2 failed (1/3 workloads)',
  ],
  ['RolloutFailed', base, { tag: '21.0.2', reason: 'BaseRejected' }, 'base platform/java 21.0.2 failed: BaseRejected'],
  ['RolloutFailed', image, { tag: '1.2.3-base.1', base: onJava }, 'r.example.com/web:1.2.3 failed on r.example.com/java:21.0.2'],
  [
    'RolledBack',
    policy,
    { tag: '1.4.1', from: ['r.example.com/web:1.4.2'], workloads, reason: 'CrashLoop', share: { count: 3, total: 3 } },
    'shop/web 1.4.2 failed, rolled back to 1.4.1 (3/3 workloads)',
  ],
  [
    'RolledBack',
    policy,
    { tag: '1.4.1', from: ['r.example.com/web:1.4.2'], workloads, reason: 'CrashLoop', hasMore: true },
    'shop/web 1.4.2 failed, rolled back to 1.4.1 (3 or more workloads)',
  ],
  [
    'RolledBack',
    policy,
    { tag: '1.4.1', from: ['r.example.com/web:1.4.2'], workloads, reason: 'RollbackRequested' },
    'shop/web 1.4.2 rolled back to 1.4.1 (3 workloads)',
  ],
  ['RolledBack', image, { tag: '1.2.3-base.1', base: onJava }, 'r.example.com/web:1.2.3 rolled back to 1.2.3-base.1'],
  ['ApprovalRequired', policy, { tag: '1.5.0', from, reason: 'ApprovalRequired' }, 'shop/web 1.5.0 waits for approval'],
  ['ApprovalEnded', policy, { tag: '1.5.0', reason: 'ApprovalSuperseded' }, 'shop/web 1.5.0 does not wait for approval any more'],
  ['ApprovalEnded', policy, { tag: '1.5.0', reason: 'RejectedByUser' }, 'shop/web 1.5.0 was rejected'],
  ['Blocked', policy, { tag: '1.5.0', reason: 'RegistryDenied' }, 'shop/web is blocked: RegistryDenied'],
  ['Behind', image, { base: onJava, workloads }, 'r.example.com/web:1.2.3 is behind r.example.com/java:21.0.2'],
  ['Rebased', image, { base: onJava }, 'r.example.com/web:1.2.3 was rebased on r.example.com/java:21.0.2'],
  ['RebuildRequested', image, { base: onJava }, 'r.example.com/web:1.2.3 is to be rebuilt on r.example.com/java:21.0.2'],
  [
    'Refused',
    image,
    { base: onJava, reason: 'RebaseRefused' },
    'r.example.com/web:1.2.3 was not brought to r.example.com/java:21.0.2: RebaseRefused',
  ],
  [
    'FixAvailable',
    policy,
    { tag: '1.4.2', from, reason: 'MinAge', fixes: [{ id: 'CVE-2026-1', severity: 'Critical' }] },
    'shop/web 1.4.2 fixes CVE-2026-1 (Critical), and waits: MinAge',
  ],
  ['WebhookMissing', policy, { reason: 'WebhookMissing' }, 'shop/web was updated by polls only: no webhooks arrive'],
  ['CertificateExpiring', { kind: 'Certificate', name: 'conversion webhook', uid }, {}, 'conversion webhook must be renewed'],
];

describe('the title of a notice', () => {
  for (const [kind, subject, more, expected] of rows)
    it(`is "${expected}"`, () => assert.equal(titleOf({ kind, subject, at, ...more }), expected));

  it('has a test case for each kind of notice', () =>
    assert.deepEqual([...new Set(rows.map(([kind]) => kind))].toSorted(), [...noticeKinds].toSorted()));

  it('begins with the name of the cluster, if the cluster has one', () =>
    assert.equal(
      messageOf({ type: 'notice', notice: { kind: 'RolledOut', subject: policy, at, tag: '1.4.2' } }, { cluster: 'prod' }).title,
      '[prod] shop/web 1.4.2 rolled out',
    ));
});

describe('the severity of a notice', () => {
  it('decreases in the order of the kinds of notices', () => {
    const ranks = kindsByUrgency.map((kind) => severities.indexOf(severityOf[kind]));
    assert.deepEqual(
      ranks,
      ranks.toSorted((a, b) => a - b),
    );
    assert.deepEqual([...kindsByUrgency].toSorted(), [...noticeKinds].toSorted());
  });

  it('has an icon and a colour of its own', () => {
    for (const key of ['icon', 'color'] as const)
      assert.equal(new Set(severities.map((severity) => looks[severity][key])).size, severities.length);
  });
});
