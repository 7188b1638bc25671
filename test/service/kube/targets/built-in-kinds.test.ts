/** The built-in kinds of Kubernetes, one after the other against one API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWanted } from '../../../../src/service/kube/project-workload.ts';
import { cronJob, daemonSet, deployment, replicaSet, statefulSet } from '../../../../src/service/kube/targets.ts';
import { podTemplate, testTarget } from './conformance.ts';

const withSelector = (name: string) => ({
  metadata: { name, labels: { app: name } },
  spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name) },
});

testTarget(deployment, withSelector);
testTarget(daemonSet, withSelector);
testTarget(replicaSet, withSelector);
testTarget(statefulSet, (name) => ({ ...withSelector(name), spec: { ...withSelector(name).spec, serviceName: name } }));
testTarget(cronJob, (name) => ({
  metadata: { name, labels: { app: name } },
  spec: {
    schedule: '0 3 * * *',
    jobTemplate: { spec: { template: { spec: { ...podTemplate(name).spec, restartPolicy: 'Never' } } } },
  },
}));

test('a ReplicaSet that a Deployment controls is not a target', () => {
  const owned = (controller: boolean) => ({
    metadata: { name: 'web-1', ownerReferences: [{ kind: 'Deployment', name: 'web', controller }] },
  });
  assert.deepEqual(
    [isWanted(replicaSet, owned(true)), isWanted(replicaSet, owned(false)), isWanted(deployment, owned(true))],
    [false, true, true],
  );
});
