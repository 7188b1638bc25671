import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Imported } from '../../../../src/cli/import/importer.ts';
import { installCrd, policiesPath } from '../../../service/resources/install-crd.ts';
import { borrowControlPlane, type ControlPlane } from '../../../harness/control-plane.ts';
import { runCommand } from '../../run-command.ts';
import { installKind } from '../minimal-crd.ts';

const image = 'image.toolkit.fluxcd.io/v1';
let cluster: ControlPlane;
let flux: string;
let shop: string;

before(async () => {
  cluster = await borrowControlPlane();
  await installCrd(cluster, ['v1']);
  flux = await cluster.namespace('flux');
  shop = await cluster.namespace('shop');
});
after(() => cluster.stop());

const run = (...args: string[]) => runCommand('import', ['flux', '--kubeconfig', cluster.kubeconfigPath, ...args]);

test('a cluster without Flux has nothing to convert', async () => {
  const { code, out, err } = await run();
  assert.deepEqual([code, out, err], [0, '', 'there is no ImagePolicy of Flux\n']);
});

test('the targets of converted policies are the workloads and HelmReleases with the image, and the API server accepts them', async () => {
  await installKind(cluster, image, 'ImageRepository', 'imagerepositories');
  await installKind(cluster, image, 'ImagePolicy', 'imagepolicies');
  await installKind(cluster, 'helm.toolkit.fluxcd.io/v2', 'HelmRelease', 'helmreleases');
  const inFlux = (plural: string, name: string, body: object) =>
    cluster.request('POST', `/apis/${image}/namespaces/${flux}/${plural}`, {
      apiVersion: image,
      kind: plural === 'imagepolicies' ? 'ImagePolicy' : 'ImageRepository',
      metadata: { name },
      ...body,
    });
  for (const name of ['web', 'api', 'chart', 'unused'])
    await inFlux('imagerepositories', name, { spec: { image: `ghcr.io/shop/${name}`, interval: '5m', secretRef: { name: 'regcred' } } });
  const policy = (name: string, range: string, tag: string, repository = name) =>
    inFlux('imagepolicies', name, {
      spec: { imageRepositoryRef: { name: repository }, policy: { semver: { range } } },
      status: { latestRef: { name: `ghcr.io/shop/${repository}`, tag } },
    });
  await policy('web', '1.x', '1.4.2');
  await policy('web-next', '2.x', '2.0.0', 'web');
  await policy('api', '3.x', '3.1.0');
  await policy('chart', '1.x', '1.0.0');
  await policy('unused', '1.x', '1.0.0');
  const deploy = (name: string, tagged: string, labels: object = {}) =>
    cluster.request('POST', `/apis/apps/v1/namespaces/${shop}/deployments`, {
      metadata: { name, labels },
      spec: {
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'app', image: `ghcr.io/shop/${tagged}` }] } },
      },
    });
  await deploy('web', 'web:1.4.2');
  await deploy('unclear', 'web:1.3.0');
  await deploy('api', 'api:3.0.0');
  const label = { 'helm.toolkit.fluxcd.io/name': 'chart', 'helm.toolkit.fluxcd.io/namespace': shop };
  await deploy('chart', 'chart:1.0.0', label);
  await deploy('hidden', 'api:3.0.0', label);
  await cluster.request('POST', `/apis/helm.toolkit.fluxcd.io/v2/namespaces/${shop}/helmreleases`, {
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name: 'chart' },
    spec: { values: { main: { image: { repository: 'ghcr.io/shop/chart', tag: '1.0.0' } } } },
  });

  const { code, out } = await run('-n', flux, '-o', 'json');
  const { policies, skipped } = JSON.parse(out) as Imported;
  assert.equal(code, 1);
  assert.deepEqual(
    policies.map(({ policy: { metadata, spec } }) => [metadata.namespace, metadata.name, spec.select.semver?.range, spec.targets]),
    [
      [
        shop,
        'chart',
        '1.x',
        [
          {
            apiVersion: 'helm.toolkit.fluxcd.io/v2',
            kind: 'HelmRelease',
            name: 'chart',
            fields: { repository: 'spec.values.main.image.repository', tag: 'spec.values.main.image.tag' },
          },
        ],
      ],
      [shop, 'api', '3.x', [{ kind: 'Deployment', name: 'api' }]],
      [shop, 'web', '1.x', [{ kind: 'Deployment', name: 'web' }]],
    ],
  );
  assert.deepEqual(
    skipped.map(({ object }) => object),
    [`Deployment ${shop}/hidden`, `Deployment ${shop}/unclear`, `ImagePolicy ${flux}/unused`, `ImagePolicy ${flux}/web-next`],
  );
  assert.match(policies[1]?.notes.join() ?? '', /runs 3\.0\.0, and Flux's latest is 3\.1\.0/);
  for (const { policy: written } of policies) await cluster.request('POST', policiesPath(shop, 'v1'), written);
});

test('a namespace without policies of Flux has nothing to convert', async () => {
  const { err } = await run('-n', shop);
  assert.equal(err, 'there is no ImagePolicy of Flux\n');
});
