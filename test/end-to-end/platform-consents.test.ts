/** Policies of a platform's namespace act in others: with consent, or because the operator grants it, unless the owners refuse. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { consentAnnotation } from '../../src/core/model/consent-annotation.ts';
import { buildImage } from '../bases/recognize/build-image.ts';
import { runCommand } from '../cli/run-command.ts';
import { pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startWorld, type World } from './world.ts';

let world: World;
before(async () => {
  world = await startWorld();
  for (const tag of ['1.0.0', '1.1.0']) await pushImage({ host: world.quiet.host, repository: 'shop/web', tag, content: tag });
});
after(() => world.stop());

test('a policy of a base without spec.workloads examines those of its namespace and of all namespaces with consent', async () => {
  const { host } = world.quiet;
  await buildImage({ host, repository: 'library/java', tag: '21.0.1' }, { layers: 'os java' });
  const [consenting, silent] = [await world.cluster.namespace('consenting'), await world.cluster.namespace('silent')];
  await world.annotate(`/api/v1/namespaces/${consenting}`, { [consentAnnotation]: world.namespace });
  const service = await world.start();
  for (const [app, namespace] of [
    ['own', world.namespace],
    ['theirs', consenting],
    ['hidden', silent],
  ] as const) {
    await buildImage({ host, repository: `shop/${app}`, tag: '1.0.0' }, { layers: `os java ${app}` });
    const labels = { app };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: `${host}/shop/${app}:1.0.0` }] } };
    const spec = { selector: { matchLabels: labels }, template };
    await world.cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, { metadata: { name: app }, spec });
  }
  const path = `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies`;
  await world.cluster.request('POST', path, {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name: 'java' },
    spec: { image: `${host}/library/java`, select: { semver: {} } },
  });
  const status = await waitFor('two images to be examined', async () => {
    const { status = {} } = await world.cluster.request<{ status?: BaseStatus }>('GET', `${path}/java`);
    return status.images?.total === 2 && status;
  });
  assert.deepEqual(status.dependents?.map(({ image, state }) => [image.split('/').at(-1), state]).toSorted(), [
    ['own:1.0.0', 'Current'],
    ['theirs:1.0.0', 'Current'],
  ]);
  await service.stop();
});

test('workloads are changed in namespaces whose permissions the operator grants, and nowhere else', async () => {
  const repository = `${world.quiet.host}/shop/web`;
  const consents = [{ policiesFrom: world.namespace, namespaces: ['team-*'] }];
  await world.start({ config: { consents } });
  const [granted, closed, other] = [
    await world.cluster.namespace('team-granted'),
    await world.cluster.namespace('team-closed'),
    await world.cluster.namespace('elsewhere'),
  ];
  const pathOf = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments`;
  await world.annotate(`/api/v1/namespaces/${closed}`, { [consentAnnotation]: 'nobody' });
  for (const [name, namespace] of Object.entries({ granted, closed, other })) {
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: `${repository}:1.0.0` }] } };
    await world.cluster.request('POST', pathOf(namespace), {
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: labels }, template },
    });
    await world.cluster.request('POST', `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/imagepolicies`, {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'ImagePolicy',
      metadata: { name },
      spec: {
        image: repository,
        select: { semver: {} },
        targets: [{ kind: 'Deployment', name: 'web', namespace }],
        poll: { interval: '8h' },
      },
    });
  }
  const imageIn = async (namespace: string) => {
    const found = await world.cluster.request<{ spec: { template: { spec: { containers: { image: string }[] } } } }>(
      'GET',
      `${pathOf(namespace)}/web`,
    );
    return found.spec.template.spec.containers[0]?.image;
  };
  await waitFor('the granted one to be changed', async () => (await imageIn(granted)) === `${repository}:1.1.0`);
  for (const name of ['closed', 'other']) await world.waitForCondition(name, 'Stalled', 'NoConsent');
  for (const namespace of [closed, other]) assert.equal(await imageIn(namespace), `${repository}:1.0.0`);

  const config = join(tempFolder('consents'), 'config.json');
  writeFileSync(config, JSON.stringify({ consents }));
  const { out } = await runCommand('consents', [
    '--kubeconfig',
    world.cluster.kubeconfigPath,
    '--from',
    world.namespace,
    '--config',
    config,
  ]);
  assert.match(out, new RegExp(`granted  .*Deployment ${granted}/web: by consents in the configuration`));
  assert.match(out, new RegExp(`refused  .*Deployment ${closed}/web`));
});
