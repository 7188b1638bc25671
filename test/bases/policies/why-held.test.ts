import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { childManifest } from '../../../src/bases/policies/child-policies.ts';
import { whyHeld } from '../../../src/bases/policies/why-held.ts';
import { approvalAnnotation, formatApproval } from '../../../src/core/model/named-approvals.ts';
import type { BaseImagePolicy } from '../../../src/core/model/base-policy.ts';
import { workloadOf } from '../../core/model/samples.ts';
import { base, policyWith, rebase } from './acting.ts';
import { readContext } from '../../harness/resource-group.ts';

const workload = { kind: 'Deployment', namespace: 'platform', name: 'web' };
const parentOf = (spec: object = {}, annotations: object = {}, status: object = {}) =>
  policyWith({ onNewBase: [rebase], ...spec }, { annotations, status });
const at = '2026-03-01T11:30:00Z';
const two = { mode: 'Approval', approvals: { count: 2 } };
const round = { ...base, since: '2026-03-01T11:00:00Z', generation: 1, required: 2 };
const approvalBy = (user: string) => ({ [approvalAnnotation(user)]: formatApproval({ ...base, at, user }) });
const byUser = { ...base, at, reason: 'RejectedByUser', message: 'rejected by ada' };
const rejecting = { 'operator.technomad.dev/reject': `${base.tag}@${base.digest} ${at}` };
const manifest = childManifest(parentOf(), base, {
  workload,
  containers: ['app'],
  hasInitContainers: false,
  repository: 'harbor.example.com/shop/web',
  from: '1',
  to: '2',
  isPinned: false,
});
const stored = { ...manifest, metadata: { ...manifest.metadata, uid: 'child', resourceVersion: '1', generation: 1 } };
const child = readPolicy(stored, readContext);
const approved = (digest: string) => ({ 'operator.technomad.dev/approve': `21.0.6@${digest}` });

for (const [what, parent, expected] of [
  ['unchanged', parentOf(), undefined],
  ['gone', undefined, 'does not exist'],
  ['created anew under its name', { ...parentOf(), uid: 'other' }, 'does not exist'],
  ['being deleted', { ...parentOf(), isDeleting: true }, 'is being deleted'],
  ['suspended', parentOf({ suspend: true }), 'is suspended'],
  [
    'suspended and broken',
    { ...parentOf(), spec: { problem: { reason: 'InvalidPolicy', message: 'x' }, suspended: true } },
    'is suspended',
  ],
  ['broken', { ...parentOf(), spec: { problem: { reason: 'InvalidPolicy', message: 'spec.x' } } }, 'cannot be used: spec.x'],
  ['in mode DryRun', parentOf({ mode: 'DryRun' }), 'has mode: DryRun'],
  ['without approval', parentOf({ mode: 'Approval' }), 'waits for the approval of its base'],
  ['approved for another base', parentOf({ mode: 'Approval' }, approved(`sha256:${'e'.repeat(64)}`)), 'waits for the approval of its base'],
  ['approved', parentOf({ mode: 'Approval' }, approved(base.digest)), undefined],
  ['approved by one of two', parentOf(two, { ...approvalBy('ada') }, { approvals: round }), 'waits for the approval of its base'],
  ['approved by two', parentOf(two, { ...approvalBy('ada'), ...approvalBy('bob') }, { approvals: round }), undefined],
  [
    'approved by two, but not in its status',
    parentOf(two, { ...approvalBy('ada'), ...approvalBy('bob') }),
    'waits for the approval of its base',
  ],
  [
    'approved by two for another base',
    parentOf(two, { ...approvalBy('ada'), ...approvalBy('bob') }, { approvals: { ...round, digest: `sha256:${'e'.repeat(64)}` } }),
    'waits for the approval of its base',
  ],
  ['rejected', parentOf({}, {}, { rejected: [byUser] }), 'has a base that somebody rejected'],
  ['rejected and released', parentOf({}, { 'operator.technomad.dev/release': at }, { rejected: [byUser] }), undefined],
  ['rolling back what failed', parentOf({}, {}, { rejected: [{ ...base, at, message: 'the pods crash' }] }), undefined],
  [
    'rejected, and the status does not say so',
    parentOf({}, rejecting, { latest: { ...base, selectedAt: at } }),
    'has a base that somebody rejected',
  ],
  ['only reporting the image', parentOf({ onNewBase: [{ report: {} }] }), 'does not rebase this image any more'],
  ['going by other windows', parentOf({ windows: [{ from: '02:00', to: '04:00' }] }), 'has other windows by now'],
  [
    'selecting other workloads',
    parentOf({ workloads: [{ selector: { matchLabels: { a: 'b' } } }] }),
    'does not select this workload any more',
  ],
  [
    'selecting other namespaces',
    parentOf({ workloads: [{ namespaceSelector: { matchLabels: { a: 'b' } } }] }),
    'does not select this workload any more',
  ],
] as const satisfies readonly (readonly [what: string, parent: BaseImagePolicy | undefined, expected: string | undefined])[])
  test(`a child ${expected === undefined ? 'may roll out' : 'is held'} if its parent is ${what}`, () => {
    const view = {
      findWorkload: () => workloadOf({}, { ...workload, labels: {} }),
      namespaceMatches: () => false,
      now: () => new Date('2026-03-01T12:00:00Z'),
    };
    assert.equal(whyHeld(child, parent, view), expected && `its BaseImagePolicy platform/java ${expected}`);
  });

test('a child is not held by windows of the configuration, which it has itself, but by a parent with an empty list', () => {
  const view = { findWorkload: () => undefined, namespaceMatches: () => false, now: () => new Date('2026-03-01T12:00:00Z') };
  const defaults = { windows: [{ from: '02:00', to: '04:00', timeZone: 'UTC' }] };
  assert.equal(whyHeld(child, policyWith({ onNewBase: [rebase] }, { defaults }), view), undefined);
  const always = policyWith({ onNewBase: [rebase], windows: [] }, { defaults });
  assert.match(whyHeld(child, always, view) ?? '', /has other windows by now$/);
});

test('a child whose rollout has begun is not held by other windows of its parent', () => {
  const view = { findWorkload: () => undefined, namespaceMatches: () => false, now: () => new Date('2026-03-01T12:00:00Z') };
  const begun = readPolicy({ ...stored, status: { running: '2' } }, readContext);
  assert.equal(whyHeld(begun, parentOf({ windows: [{ from: '02:00', to: '04:00' }] }), view), undefined);
});

test('a policy without a parent, or whose controller is of another kind, is not held', () => {
  const view = { findWorkload: () => undefined, namespaceMatches: () => false, now: () => new Date('2026-03-01T12:00:00Z') };
  const [owner] = stored.metadata.ownerReferences;
  const owned = { ...stored, metadata: { ...stored.metadata, ownerReferences: [{ ...owner, kind: 'Kustomization' }] } };
  for (const raw of [owned, { ...stored, metadata: { ...stored.metadata, ownerReferences: [] } }])
    assert.equal(whyHeld(readPolicy(raw, readContext), undefined, view), undefined);
});
