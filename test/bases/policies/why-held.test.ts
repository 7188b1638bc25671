import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { childManifest } from '../../../src/bases/policies/child-policies.ts';
import { whyHeld } from '../../../src/bases/policies/why-held.ts';
import type { BaseImagePolicy } from '../../../src/core/model/base-policy.ts';
import { workloadOf } from '../../core/model/samples.ts';
import { base, policyWith, rebase } from './acting.ts';
import { readContext } from '../../harness/resource-group.ts';

const workload = { kind: 'Deployment', namespace: 'platform', name: 'web' };
const parentOf = (spec: object = {}, annotations: object = {}) => policyWith({ onNewBase: [rebase], ...spec }, { annotations });
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
  ['as it was', parentOf(), undefined],
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
] as const satisfies readonly (readonly [string, BaseImagePolicy | undefined, string | undefined])[])
  test(`the parent is ${what}: ${expected ?? 'the child is free'}`, () => {
    const view = { findWorkload: () => workloadOf({}, { ...workload, labels: {} }), namespaceMatches: () => false };
    assert.equal(whyHeld(child, parent, view), expected && `its BaseImagePolicy platform/java ${expected}`);
  });

test('the windows of the configuration, which the child has itself, do not hold it; a policy that says that it has none does', () => {
  const view = { findWorkload: () => undefined, namespaceMatches: () => false };
  const defaults = { windows: [{ from: '02:00', to: '04:00', timeZone: 'UTC' }] };
  assert.equal(whyHeld(child, policyWith({ onNewBase: [rebase] }, { defaults }), view), undefined);
  const always = policyWith({ onNewBase: [rebase], windows: [] }, { defaults });
  assert.match(whyHeld(child, always, view) ?? '', /has other windows by now$/);
});

test('other windows do not hold a child that has begun', () => {
  const view = { findWorkload: () => undefined, namespaceMatches: () => false };
  const begun = readPolicy({ ...stored, status: { running: '2' } }, readContext);
  assert.equal(whyHeld(begun, parentOf({ windows: [{ from: '02:00', to: '04:00' }] }), view), undefined);
});

test('nothing holds a policy without a parent, or one whose controller is another kind', () => {
  const view = { findWorkload: () => undefined, namespaceMatches: () => false };
  const [owner] = stored.metadata.ownerReferences;
  const owned = { ...stored, metadata: { ...stored.metadata, ownerReferences: [{ ...owner, kind: 'Kustomization' }] } };
  for (const raw of [owned, { ...stored, metadata: { ...stored.metadata, ownerReferences: [] } }])
    assert.equal(whyHeld(readPolicy(raw, readContext), undefined, view), undefined);
});
