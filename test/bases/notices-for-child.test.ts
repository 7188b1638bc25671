/** Which notices about the ImagePolicies of a BaseImagePolicy reach the team of the workload, and what they say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNoticeForChild } from '../../src/bases/notices-for-child.ts';
import { childManifest } from '../../src/bases/policies/child-policies.ts';
import type { NoticeKind } from '../../src/core/model/notice.ts';
import { readPolicy } from '../../src/service/resources/read-policy.ts';
import { digestOf } from '../core/model/samples.ts';
import { readContext } from '../harness/resource-group.ts';
import { base, policyWith, rebase } from './policies/acting.ts';

const to = '1.4.2-base.20261123';
const lastWave = { base: base.digest, workloads: ['Deployment/shop/web'] };
const parent = policyWith({ onNewBase: [rebase] }, { status: { latest: { ...base, selectedAt: '2026-11-23T12:00:00Z' }, lastWave } });
const childOf = () => {
  const workload = { kind: 'Deployment', namespace: 'shop', name: 'web' };
  const written = childManifest(parent, base, {
    workload,
    containers: ['app'],
    hasInitContainers: false,
    repository: 'harbor.example.com/shop/web',
    from: '1.4.2',
    to,
    isPinned: false,
  });
  return readPolicy({ ...written, metadata: { ...written.metadata, uid: 'child', resourceVersion: '1', generation: 1 } }, readContext);
};
const rewrite = createNoticeForChild({ get: (namespace, name) => (`${namespace}/${name}` === 'platform/java' ? parent : undefined) });
const noticeOf = (kind: NoticeKind, tag = to) => ({
  identity: ['child', kind],
  notice: {
    kind,
    subject: { kind: 'ImagePolicy' as const, namespace: 'platform', name: 'java-1', uid: 'child' },
    at: '2026-11-23T12:00:00Z',
    tag,
    workloads: ['Deployment shop/web'],
    eventId: 'push-1',
  },
});

test('a failed or undone rollout of a child is reported to the team of the workload, without details of the policy', () => {
  for (const kind of ['RolloutFailed', 'RolledBack'] as const)
    assert.deepEqual(rewrite(childOf(), noticeOf(kind)), {
      identity: ['child', kind],
      notice: {
        kind,
        subject: { kind: 'Image', namespace: 'shop', name: 'harbor.example.com/shop/web:1.4.2', uid: 'child' },
        at: '2026-11-23T12:00:00Z',
        tag: to,
        workloads: ['Deployment shop/web'],
        base: `harbor.example.com/library/base-java:${base.tag}@${base.digest}`,
      },
    });
});

test('an update of a child, and the end of its rollout, are reported by its parent only', () => {
  for (const kind of ['Updated', 'RolledOut'] as const) assert.equal(rewrite(childOf(), noticeOf(kind)), undefined);
});

test('an update of a child that its parent has not begun is reported, because somebody may have written the child', () => {
  const updated = noticeOf('Updated');
  const under = (status: (typeof parent)['status']) => createNoticeForChild({ get: () => ({ ...parent, status }) })(childOf(), updated);
  const { latest } = parent.status;
  for (const other of [undefined, { ...lastWave, workloads: ['Deployment/shop/other'] }, { ...lastWave, base: digestOf('e') }])
    assert.deepEqual(under({ ...(latest && { latest }), ...(other && { lastWave: other }) }), updated);
  const image = 'harbor.example.com/shop/web:1.4.2';
  const rebased = (tag: string) =>
    ({ dependents: [{ image, state: 'Updating' as const, rebased: tag, workloads: [] }] }) as unknown as (typeof parent)['status'];
  assert.equal(under(rebased(to)), undefined);
  assert.deepEqual(under(rebased('1.4.2-base.20261124')), updated);
});

test('the notice that a child is blocked, and notices of policies without a parent, are not rewritten', () => {
  const blocked = noticeOf('Blocked');
  assert.deepEqual(rewrite(childOf(), blocked), blocked);
  const { parent: _, ...own } = childOf();
  const updated = noticeOf('Updated');
  assert.equal(rewrite(own, updated), updated);
});
