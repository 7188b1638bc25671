import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWanted } from '../../../src/kube/project-workload.ts';
import { deployment } from '../../../src/kube/targets/deployment.ts';
import { replicaSet } from '../../../src/kube/targets/replica-set.ts';
import { podTemplate, testTarget } from './conformance.ts';

testTarget(replicaSet, (name) => ({
  metadata: { name, labels: { app: name } },
  spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name) },
}));

test('what a Deployment made of itself is not a target', () => {
  const owned = (controller: boolean) => ({
    metadata: { name: 'web-1', ownerReferences: [{ kind: 'Deployment', name: 'web', controller }] },
  });
  assert.deepEqual(
    [isWanted(replicaSet, owned(true)), isWanted(replicaSet, owned(false)), isWanted(deployment, owned(true))],
    [false, true, true],
  );
});
