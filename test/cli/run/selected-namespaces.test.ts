/** `run --once`, `explain` and `lint --cluster` with a configuration that selects namespaces: what the service leaves alone, they do as well. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { stringify } from 'yaml';
import { kubeconfigWithRules } from '../../harness/service-account.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { policiesPath } from '../../service/resources/install-crd.ts';
import { type CliWorld, startCliWorld, withNamespace } from '../cluster-world.ts';
import { runCommand } from '../run-command.ts';
import { resultsIn, type RunWorld, startRunWorld } from './run-world.ts';

let cli: CliWorld;
let world: RunWorld;
let elsewhere: string;
let labelled: string;
let listed: string;

before(async () => {
  cli = await startCliWorld();
  world = await startRunWorld(cli.cluster, cli.namespace, cli.kubeconfig);
  await world.push('shop/web', '1.0.0', '1.1.0');
  elsewhere = await cli.cluster.namespace('elsewhere');
  await label(cli.namespace, { watched: 'yes' });
  await label(elsewhere, {}, { 'operator.technomad.dev/allow-policies-from': cli.namespace });
  labelled = configOf({ namespaceSelector: { matchLabels: { watched: 'yes' } } });
  listed = configOf({ namespaces: [cli.namespace] });
});
after(() => Promise.all([world.stop(), cli.stop()]));

function label(namespace: string, labels: object, annotations: object = {}): Promise<unknown> {
  return cli.cluster.request('PATCH', `/api/v1/namespaces/${namespace}`, { metadata: { labels, annotations } });
}

function configOf(watch: object): string {
  const file = join(tempFolder('config'), 'config.yaml');
  writeFileSync(file, stringify({ watch, registries: [{ host: world.registry.host, insecure: true }] }));
  return file;
}

async function deployElsewhere(name: string, image: string): Promise<void> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: world.image(image) }] } };
  await cli.cluster.request('POST', `/apis/apps/v1/namespaces/${elsewhere}/deployments`, {
    metadata: { name, labels },
    spec: { selector: { matchLabels: labels }, template },
  });
}

async function imageElsewhere(name: string): Promise<string | undefined> {
  const path = `/apis/apps/v1/namespaces/${elsewhere}/deployments/${name}`;
  const { spec } = await cli.cluster.request<Awaited<ReturnType<RunWorld['read']>>>('GET', path);
  return spec.template.spec.containers[0]?.image;
}

const create = (name: string, spec: object = {}) => cli.create(name, { image: world.image('shop/web'), ...spec });

test('run neither changes nor plans to change a target in a namespace that is not selected', async () => {
  await deployElsewhere('far', 'shop/web:1.0.0');
  await create('far', { targets: [{ kind: 'Deployment', name: 'far', namespace: elsewhere }] });
  await create('far-by-label', {
    targets: [{ kind: 'Deployment', selector: { matchLabels: { app: 'far' } }, namespace: elsewhere }],
  });
  for (const [config, reason, message] of [
    [labelled, 'NamespaceNotSelected', /is not selected by watch\.namespaceSelector/],
    [listed, 'TargetNotFound', /watch\.namespaces of the configuration does not include/],
  ] as const)
    for (const [name, ...how] of [['far'], ['far-by-label', '--dry-run']] as const) {
      const ran = await world.run(name, '-o', 'json', '--config', config, ...how);
      const { [name]: found } = resultsIn(ran);
      assert.deepEqual([ran.code, found?.result, found?.reason, found?.changes], [1, 'blocked', reason, []], ran.out);
      assert.match(found?.message ?? '', message);
      assert.equal(await imageElsewhere('far'), world.image('shop/web:1.0.0'));
    }
  const linted = await runCommand('lint', [
    '--cluster',
    '--kubeconfig',
    cli.kubeconfig,
    '--config',
    labelled,
    '--docker-config',
    '/dev/null',
  ]);
  assert.match(linted.out, /far spec\.targets\[0\]: namespace \S+ is not selected by watch\.namespaceSelector/, linted.err);
  assert.doesNotMatch(linted.out, /would be changed/);
  const explained = await runCommand('explain', ['far', '--kubeconfig', cli.kubeconfig, '--config', labelled, '-o', 'json']);
  assert.match(explained.out, /NamespaceNotSelected/);
});

test('run blocks a policy in a namespace that the configuration does not list', async () => {
  await world.deploy('unlisted', 'shop/web:1.0.0');
  await create('unlisted');
  const ran = await world.run('unlisted', '-o', 'json', '--config', configOf({ namespaces: [elsewhere] }));
  const { unlisted } = resultsIn(ran);
  assert.deepEqual([ran.code, unlisted?.result, unlisted?.reason], [1, 'blocked', 'NamespaceNotSelected'], ran.out);
  assert.equal(await world.imageOf('unlisted'), world.image('shop/web:1.0.0'));
});

test('run ignores other policies in namespaces that are not selected, as the service does', async () => {
  await world.push('shop/tracks', '1.0.0', '1.1.0', 'edge');
  await world.deploy('tracks', 'shop/tracks:edge');
  const { cluster } = cli;
  const annotations = { 'operator.technomad.dev/allow-policies-from': elsewhere };
  await cluster.request('PATCH', `/apis/apps/v1/namespaces/${cli.namespace}/deployments/tracks`, { metadata: { annotations } });
  const image = world.image('shop/tracks');
  // The policy of another namespace follows the tag that runs.
  await cluster.request('POST', policiesPath(elsewhere, 'v1'), {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'ImagePolicy',
    metadata: { name: 'edge' },
    spec: {
      image,
      select: { digest: { tag: 'edge' } },
      targets: [{ kind: 'Deployment', name: 'tracks', namespace: cli.namespace }],
    },
  });
  await create('tracks', { image, select: { semver: { range: '>=1.0.0' } }, targets: [{ kind: 'Deployment', name: 'tracks' }] });
  const resultWith = async (config: string) =>
    resultsIn(await world.run('tracks', '--dry-run', '-o', 'json', '--config', config))['tracks'];
  const all = await resultWith(configOf({}));
  assert.deepEqual([all?.result, all?.reason], ['unchanged', 'OtherTrack']);
  assert.equal((await resultWith(labelled))?.result, 'changed');
});

test('run says that the selection of namespaces is unknown to a user who may not read them', async () => {
  await deployElsewhere('doubted', 'shop/web:1.0.0');
  await create('doubted', { targets: [{ kind: 'Deployment', name: 'doubted', namespace: elsewhere }] });
  const rules = [
    { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'patch'] },
  ];
  const kubeconfig = withNamespace(await kubeconfigWithRules(cli.cluster, cli.namespace, 'unsure', rules), cli.namespace);
  const { err } = await world.run('doubted', '--dry-run', '--config', labelled, '--kubeconfig', kubeconfig);
  assert.match(err, new RegExp(`^you may not read Namespace ${cli.namespace}, ${elsewhere}, so its labels are not known here`, 'm'));
});
