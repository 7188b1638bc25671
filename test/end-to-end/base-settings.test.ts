/** A patch may be in the settings of a base alone, such as a variable that switches a faulty feature off. The layers are the same then. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { formats } from '../bases/recognize/build-image.ts';
import { pushReal, type RealBuild } from '../bases/rebase/build.ts';
import { unpack } from '../bases/rebase/unpack.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, startWorld, type World } from './world.ts';

let world: World;

before(async () => {
  world = await startWorld({ extraRules: shippedRules('work-rebase') });
  await announce(world.registry, await world.start());
  const auths = { [world.registry.host]: { username: 'rebaser', password: 'x' } };
  await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
    metadata: { name: 'rebaser' },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
  });
});
after(() => world.stop());

const layers = [{ 'etc/os-release': 'Debian PLATFORM' }, { 'opt/java/bin/java': 'java 21 PLATFORM' }];
const settings = (lookups: string, more: object = {}) => ({ Env: ['PATH=/usr/bin', `LOG_LOOKUPS=${lookups}`], User: 'app', ...more });
const [both, more] = [
  ['linux/amd64', 'linux/arm64'],
  ['linux/amd64', 'linux/arm64', 'linux/s390x'],
];

async function push(repository: string, tag: string, build: RealBuild): Promise<string> {
  const { digest } = await pushReal(
    { host: world.registry.host, repository, tag },
    { platforms: both, created: '2026-01-01T00:00:00Z', ...build },
  );
  return digest;
}

const policies = () => `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies`;
const readStatus = async () => ((await world.cluster.request('GET', `${policies()}/java`)) as { status?: BaseStatus }).status ?? {};
const waitForStatus = (what: string, isReached: (status: BaseStatus) => boolean) =>
  waitFor(what, async () => {
    const status = await readStatus();
    return isReached(status) && status;
  });

async function imageOf(name: string): Promise<string> {
  return (await world.readDeployment(name)).spec.template.spec.containers[0]?.image ?? '';
}

/** The variables of the image that a Deployment runs, as the registry has them. */
async function variablesOf(name: string): Promise<string[]> {
  const { host } = world.registry;
  const [, repository = '', tag = ''] = /^[^/]+\/(.+):([^:]+)$/.exec(await imageOf(name)) ?? [];
  const read = async (path: string) =>
    (
      await fetch(`http://${host}/v2/${repository}/${path}`, { headers: { accept: `${formats.oci.index}, ${formats.oci.manifest}` } })
    ).json();
  const index = (await read(`manifests/${tag}`)) as { manifests: { digest: string }[] };
  const manifest = (await read(`manifests/${index.manifests[0]?.digest}`)) as { config: { digest: string } };
  return ((await read(`blobs/${manifest.config.digest}`)) as { config: { Env: string[] } }).config.Env;
}

test('a variable of a new base reaches every image that inherits it, and an image that replaces it is current', async () => {
  const base = await push('library/java', '21.0.1', { layers, config: settings('on') });
  const annotations = {
    'org.opencontainers.image.base.name': `${world.registry.host}/library/java:21.0.1`,
    'org.opencontainers.image.base.digest': base,
  };
  const app = (name: string) => [...layers, { 'app/main.jar': `${name} PLATFORM` }];
  await push('shop/named', '1.0.0', { layers: app('named'), config: settings('on'), annotations });
  await push('shop/plain', '1.0.0', { layers: app('plain'), config: settings('on', { WorkingDir: '/app' }) });
  await push('shop/own', '1.0.0', { layers: app('own'), config: settings('never'), annotations });
  const names = ['named', 'plain', 'own'];
  for (const name of names) await world.createDeployment(name, `${world.registry.host}/shop/${name}:1.0.0`);
  await world.cluster.request('POST', policies(), {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name: 'java' },
    spec: {
      image: `${world.registry.host}/library/java`,
      select: { semver: {} },
      onNewBase: [{ rebase: { images: ['*'], pushSecret: { name: 'rebaser' } } }],
      rollout: { watch: false },
      poll: { interval: '8h' },
    },
  });
  await waitForStatus('all are current', ({ images }) => images?.current === 3);

  await push('library/java', '21.0.2', { layers, config: settings('off') });
  const isDone = (tag: string) => (status: BaseStatus) => status.latest?.tag === tag && status.images?.current === 3;
  await waitForStatus('the images that inherit the variable are rebased', isDone('21.0.2'));
  assert.deepEqual(await variablesOf('named'), ['PATH=/usr/bin', 'LOG_LOOKUPS=off']);
  assert.deepEqual(await variablesOf('plain'), ['PATH=/usr/bin', 'LOG_LOOKUPS=off']);
  assert.deepEqual(await imageOf('own'), `${world.registry.host}/shop/own:1.0.0`);
  assert.deepEqual(await unpack(await imageOf('plain'), 'linux/arm64'), {
    'etc/os-release': 'Debian linux/arm64',
    'opt/java/bin/java': 'java 21 linux/arm64',
    'app/main.jar': 'plain linux/arm64',
  });

  const before = await Promise.all(names.map(imageOf));
  await push('library/java', '21.0.3', { layers, config: settings('off'), platforms: more, created: '2026-02-02T00:00:00Z' });
  await waitForStatus('an index with one more platform changes no image', isDone('21.0.3'));
  assert.deepEqual(await Promise.all(names.map(imageOf)), before);

  const patched = [...layers.slice(0, 1), { 'opt/java/bin/java': 'java 21.0.4 PLATFORM' }];
  await push('library/java', '21.0.4', { layers: patched, config: settings('off') });
  await waitForStatus('all are rebased on new layers', isDone('21.0.4'));
  assert.deepEqual(await variablesOf('own'), ['PATH=/usr/bin', 'LOG_LOOKUPS=never']);
});
