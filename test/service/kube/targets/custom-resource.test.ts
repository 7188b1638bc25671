/** A custom resource with a pod template, such as the Rollout of Argo. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDiscovery } from '../../../../src/service/kube/discovery.ts';
import type { TargetKind } from '../../../../src/service/kube/targets.ts';
import { startFakeApiServer } from '../fake-api-server.ts';
import { podTemplate, testTarget } from './conformance.ts';
import { installKind, known } from './custom-definition.ts';

const rollout: TargetKind = {
  kind: 'Rollout',
  apiVersion: 'argoproj.io/v1alpha1',
  resource: 'rollouts',
  podSpecPath: ['spec', 'template', 'spec'],
};

testTarget(
  rollout,
  (name) => ({
    apiVersion: rollout.apiVersion,
    kind: rollout.kind,
    metadata: { name, labels: { app: name } },
    spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name) },
  }),
  (cluster) => installKind(cluster, known.rollout),
);

test('the plural comes from the API server, and a kind that is not served or not namespaced is not a target', async (t) => {
  const server = await startFakeApiServer();
  t.after(() => server.stop());
  const resources = [
    { name: 'rollouts/status', kind: 'Rollout', namespaced: true },
    { name: 'rollouts', kind: 'Rollout', namespaced: true },
    { name: 'clusterrollouts', kind: 'ClusterRollout', namespaced: false },
  ];
  const groups = [{ versions: [{ groupVersion: 'argoproj.io/v1alpha1' }] }];
  server.handle(({ path, json }) => {
    if (path === '/apis') return json(200, { groups });
    return path === '/apis/argoproj.io/v1alpha1' ? json(200, { resources }) : json(404, { code: 404 });
  });
  const discovery = createDiscovery(server.client(), []);
  const discover = (kind: string, apiVersion = 'argoproj.io/v1alpha1') => discovery.find({ apiVersion, kind });
  assert.deepEqual(await discover('Rollout'), rollout);
  for (const [kind, apiVersion] of [['Experiment'], ['Rollout', 'argoproj.io/v2'], ['Rollout', 'argoproj.io/v1/../x']] as const)
    await assert.rejects(discover(kind, apiVersion), {
      name: 'PermanentError',
      reason: 'TargetKindUnknown',
      message: /CustomResourceDefinition/,
    });
  await assert.rejects(discover('ClusterRollout'), { reason: 'UnsupportedTargetKind' });
});
