import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Imported } from '../../../../src/cli/import/importer.ts';
import { installCrd, policiesPath } from '../../../service/resources/install-crd.ts';
import { borrowControlPlane, type ControlPlane } from '../../../harness/control-plane.ts';
import { runCommand } from '../../run-command.ts';
import { installKind } from '../minimal-crd.ts';

const group = 'argocd-image-updater.argoproj.io';
let cluster: ControlPlane;
let argocd: string;
let shop: string;

before(async () => {
  cluster = await borrowControlPlane();
  await installCrd(cluster, ['v1']);
  argocd = await cluster.namespace('argocd');
  shop = await cluster.namespace('shop');
});
after(() => cluster.stop());

const run = (...args: string[]) => runCommand('import', ['argocd-image-updater', '--kubeconfig', cluster.kubeconfigPath, ...args]);

test('a cluster without Argo CD has nothing to convert', async () => {
  const { code, err } = await run();
  assert.deepEqual([code, err], [0, 'there is no ImageUpdater, and no Application with annotations of Argo CD Image Updater\n']);
});

test('the targets of converted policies are the workloads in the status of an Application, and the API server accepts them', async () => {
  await installKind(cluster, `${group}/v1alpha1`, 'ImageUpdater', 'imageupdaters');
  await installKind(cluster, 'argoproj.io/v1alpha1', 'Application', 'applications');
  await installKind(cluster, 'argoproj.io/v1alpha1', 'Rollout', 'rollouts');
  const containers = [{ name: 'app', image: 'ghcr.io/shop/web:1.4.2' }];
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };
  for (const name of ['web', 'other'])
    await cluster.request('POST', `/apis/apps/v1/namespaces/${shop}/deployments`, {
      metadata: { name },
      spec: { selector: { matchLabels: { app: 'web' } }, template },
    });
  const argo = (apiVersion: string, kind: string, plural: string, namespace: string, body: object) =>
    cluster.request('POST', `/apis/${apiVersion}/namespaces/${namespace}/${plural}`, { apiVersion, kind, ...body });
  await argo('argoproj.io/v1alpha1', 'Rollout', 'rollouts', shop, { metadata: { name: 'canary' }, spec: { template } });
  const resources = [
    { group: 'apps', version: 'v1', kind: 'Deployment', namespace: shop, name: 'web' },
    { group: 'argoproj.io', version: 'v1alpha1', kind: 'Rollout', namespace: shop, name: 'canary' },
    { version: 'v1', kind: 'Service', namespace: shop, name: 'web' },
  ];
  await argo('argoproj.io/v1alpha1', 'Application', 'applications', argocd, {
    metadata: { name: 'web' },
    spec: { destination: { server: 'https://kubernetes.default.svc', namespace: shop } },
    status: { resources },
  });
  await argo(`${group}/v1alpha1`, 'ImageUpdater', 'imageupdaters', argocd, {
    metadata: { name: 'u' },
    spec: {
      applicationRefs: [
        { namePattern: 'w*', images: [{ alias: 'web', imageName: 'ghcr.io/shop/web:1.x' }] },
        { namePattern: 'gone', images: [{ alias: 'gone', imageName: 'ghcr.io/shop/gone:1.x' }] },
      ],
    },
  });
  const registries = 'registries:\n- {name: GitHub, prefix: ghcr.io, api_url: "https://ghcr.io", limit: 5}\n';
  for (const name of ['argocd-image-updater-config', 'unrelated'])
    await cluster.request('POST', `/api/v1/namespaces/${argocd}/configmaps`, {
      metadata: { name },
      data: { 'registries.conf': registries },
    });

  const { code, out } = await run('-n', argocd, '-o', 'json');
  const { policies, skipped, remarks } = JSON.parse(out) as Imported;
  assert.equal(code, 1);
  assert.deepEqual(
    policies.map(({ policy: { metadata, spec } }) => [metadata, spec.select, spec.targets]),
    [
      [
        { name: 'web', namespace: shop },
        { semver: { range: '1.x' } },
        [
          { kind: 'Deployment', name: 'web' },
          { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'canary' },
        ],
      ],
    ],
  );
  assert.deepEqual(skipped, [{ object: `ImageUpdater ${argocd}/u`, problem: 'no Application matches "gone"' }]);
  assert.equal(remarks.filter((remark) => remark.includes('requestsPerSecond: 5')).length, 1);
  for (const { policy } of policies) await cluster.request('POST', policiesPath(shop, 'v1'), policy);
});
