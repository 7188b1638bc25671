/** Which ImagePolicies are children of a BaseImagePolicy: those that the service wrote, whatever their authors write on others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { childManifest, isChildOf, parentLabel } from '../../../src/bases/policies/child-policies.ts';
import { base, policyWith, rebase } from './acting.ts';
import { readContext } from '../../harness/resource-group.ts';

const parent = policyWith({ onNewBase: [rebase] });
const manifestOf = (repository: string, workload: object = {}) =>
  childManifest(parent, base, {
    workload: { kind: 'Deployment', namespace: 'platform', name: 'web', ...workload },
    containers: ['app'],
    hasInitContainers: false,
    repository,
    from: '1.4.2',
    to: '1.4.2-base.20261123',
    isPinned: false,
  });
const manifest = manifestOf('harbor.example.com/shop/web');
const { metadata, spec } = manifest;
const read = (written: object) => {
  const object = { ...manifest, ...written };
  return readPolicy({ ...object, metadata: { ...object.metadata, uid: 'child', resourceVersion: '1', generation: 1 } }, readContext);
};
const [owner] = metadata.ownerReferences;

test('a policy that the service has written for a base counts as its child', () => {
  for (const one of [manifest, manifestOf('docker.io/library/web'), manifestOf('localhost:5000/web', { kind: 'StatefulSet' })])
    assert.equal(isChildOf(read(one), parent), true, one.spec.image);
});

for (const [what, written] of Object.entries({
  'with the label alone': { metadata: { namespace: 'platform', name: 'mine', labels: { [parentLabel]: 'java' } } },
  'with the owner as well': { metadata: { ...metadata, name: 'mine' } },
  'with the uid of another owner': { metadata: { ...metadata, ownerReferences: [{ ...owner, uid: 'other' }] } },
  'with an owner that does not control it': { metadata: { ...metadata, ownerReferences: [{ ...owner, controller: false }] } },
  'with the name of a child that changes something else': {
    spec: { ...spec, select: { replace: { from: '1.4.2', to: '6.6.6-base.20261123' } } },
  },
  'with the name of a child for another workload': { spec: { ...spec, targets: [{ ...spec.targets[0], name: 'other' }] } },
  'with the name of a child that selects tags': { spec: { ...spec, select: { semver: {} } } },
}))
  test(`a policy ${what} does not count as a child, so that its updates are reported`, () =>
    assert.equal(isChildOf(read(written), parent), false));

test('a policy whose parent is gone does not count as a child', () => assert.equal(isChildOf(read({}), undefined), false));
