/** Workloads of a mutable tag are restarted when the tag has an image on the new base: with the real controllers, and a kubelet that pulls at each start. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Repetition } from '../../src/core/async/repeat.ts';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { buildImage } from '../bases/recognize/build-image.ts';
import { runPods } from '../demo/kubelet.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, startWorld, type Deployment, type Service, type World } from './world.ts';

const basePath = 'library/base-java';
let world: World;
let service: Service;
let pods: Repetition;

before(async () => {
  world = await startWorld({ controllers: true });
  service = await world.start();
  await announce(world.registry, service);
  // As the kubelet does with imagePullPolicy: Always.
  pods = runPods(world.cluster, world.namespace, { crashes: () => Promise.resolve(false), imageIdOf });
});
after(async () => {
  await pods.stop();
  await world.stop();
});

async function imageIdOf(image: string): Promise<string> {
  const [, repository = '', tag = ''] = /^[^/]+\/(.+):([\w.-]+)$/.exec(image) ?? [];
  const accept = 'application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json';
  const head = await fetch(`http://${world.registry.host}/v2/${repository}/manifests/${tag}`, { method: 'HEAD', headers: { accept } });
  // The pod is started again where the registry has no time.
  assert.ok(head.ok, `HEAD ${image}: ${head.status}`);
  return `${world.registry.host}/${repository}@${head.headers.get('docker-content-digest')}`;
}

const pushBase = (content: string) =>
  buildImage({ host: world.registry.host, repository: basePath, tag: '21' }, { layers: `os ${content}` });
const pushApp = (base: string) =>
  buildImage({ host: world.registry.host, repository: 'shop/web', tag: 'main' }, { layers: `os ${base} web` });

async function deploy(name: string, imagePullPolicy: string, labels: Record<string, string> = {}): Promise<void> {
  const matchLabels = { app: name };
  const containers = [{ name: 'c0', image: `${world.registry.host}/shop/web:main`, imagePullPolicy }];
  await world.cluster.request('POST', `/apis/apps/v1/namespaces/${world.namespace}/deployments`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: { replicas: 2, selector: { matchLabels }, template: { metadata: { labels: matchLabels }, spec: { containers } } },
  });
}

const policies = (name = '') =>
  `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`.replace(/\/$/, '');
async function readStatus(): Promise<BaseStatus> {
  return ((await world.cluster.request('GET', policies('java'))) as { status?: BaseStatus }).status ?? {};
}
async function check(): Promise<void> {
  await world.annotate(policies('java'), { 'operator.technomad.dev/requested-at': new Date().toISOString() });
}
type Restarted = Deployment & { spec: { template: { metadata: { annotations?: Record<string, string> } } } };
async function restartOf(name: string): Promise<string | undefined> {
  const { spec } = (await world.readDeployment(name)) as Restarted;
  return spec.template.metadata.annotations?.['kubectl.kubernetes.io/restartedAt'];
}

test('workloads are restarted for a new base: canaries first, each once, and only with imagePullPolicy: Always', async () => {
  await pushBase('java1');
  await pushApp('java1');
  await deploy('canary', 'Always', { canary: 'true' });
  await deploy('later', 'Always');
  await deploy('cached', 'IfNotPresent');
  await world.cluster.request('POST', policies(), {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name: 'java' },
    spec: {
      image: `${world.registry.host}/${basePath}`,
      select: { digest: { tag: '21' } },
      workloads: [{}],
      onNewBase: [{ restart: { images: ['*'] } }],
      waves: { maxParallel: 1, canaries: { matchLabels: { canary: 'true' } }, pause: '1s' },
      poll: { interval: '8h' },
    },
  });
  await waitFor('the image to be current', async () => (await readStatus()).images?.current === 1);
  const isReady = async (name: string) => {
    const { status } = (await world.readDeployment(name)) as unknown as { status?: { readyReplicas?: number } };
    return status?.readyReplicas === 2;
  };
  for (const name of ['canary', 'later', 'cached']) await waitFor(`${name} to be ready`, () => isReady(name));
  await pushBase('java2');
  await waitFor('the image to be behind', async () => (await readStatus()).images?.behind === 1);
  await check();
  assert.equal(await restartOf('canary'), undefined, 'the tag has no image on the new base yet');

  // The push of the application is enough.
  await pushApp('java2');
  const first = await waitFor('the canary to be restarted', async () => {
    const at = await restartOf('canary');
    // What the wait ends with, if it has to give up.
    if (at === undefined) throw new Error(JSON.stringify(await readStatus()));
    return at;
  });
  await service.kill9();
  await service.restart();
  const second = await waitFor('the other to be restarted', () => restartOf('later'));
  assert.ok(Date.parse(second) - Date.parse(first) >= 1_000, 'after the pause');
  const status = await waitFor('both to be done', async () => {
    const found = await readStatus();
    return found.waves?.done === 2 && found.waves.pending + found.waves.progressing === 0 && found;
  });
  assert.equal(status.waves?.failed, 0);
  assert.deepEqual(
    status.dependents?.map(({ state, action }) => [state, action]),
    // One workload pulls its image only where the node lacks it: its pods run the one before, and a restart may not change that.
    [['Behind', 'restart']],
  );
  assert.equal(await restartOf('cached'), undefined);
  await check();
  await waitFor('another reconcile', async () => (await readStatus()).lastHandledRequest !== undefined);
  for (const [name, times] of [
    ['canary', 1],
    ['later', 1],
    ['cached', 0],
  ] as const)
    assert.equal((await world.readDeployment(name)).metadata.generation - 1, times, `${name} was changed ${times} times`);
});
