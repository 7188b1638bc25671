/**
 * Rebuilds in waves, with the real controllers and a CI system that builds: the canary is rebuilt and rolled out first. A base whose canary fails is rejected, and
 * nobody else is rebuilt on it.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { buildImage } from '../bases/recognize/build-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { runPods } from './base-fleet.ts';
import { announce, startWorld, type World } from './world.ts';

const apps = ['canary', 'cart', 'web'];
let world: World;
let kubelet: ReturnType<typeof runPods>;
/** The sources in the order of their requests, and which base is built on. */
const requested: string[] = [];
let java = 'java1';
let patch = 0;

const push = (repository: string, tag: string, layers: string, source?: string) =>
  buildImage(
    { host: world.registry.host, repository, tag },
    { layers, platforms: ['linux/amd64'], ...(source && { labels: () => ({ 'org.opencontainers.image.source': source }) }) },
  );
const pushApp = (name: string) => push(`shop/${name}`, `1.0.${patch}`, `os ${java} ${name}`, `https://git.example.com/shop/${name}`);

/** Builds what it is asked to. The image comes back by its own push. */
const ci = createServer((request, response) => {
  void text(request).then(async (body) => {
    const { subject } = JSON.parse(body) as { subject: string };
    const name = subject.split('/').at(-1) ?? '';
    if (!requested.includes(name)) requested.push(name);
    await pushApp(name);
    return response.writeHead(202).end();
  });
});

const policies = (name = '') =>
  `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`.replace(/\/$/, '');
const waitForStatus = (what: string, isReached: (status: BaseStatus) => boolean) =>
  waitFor(what, async () => {
    const { status = {} } = (await world.cluster.request('GET', policies('java'))) as { status?: BaseStatus };
    return isReached(status) && status;
  });

before(async () => {
  ci.listen(0, '127.0.0.1');
  await once(ci, 'listening');
  const origin = `http://127.0.0.1:${(ci.address() as AddressInfo).port}`;
  world = await startWorld({ controllers: true });
  kubelet = runPods(world.cluster, world.namespace);
  const config = {
    receivers: [{ name: 'registry', provider: 'distribution', secrets: [{ env: 'WEBHOOK_SECRET' }] }],
    registries: [{ host: world.registry.host, insecure: true, concurrency: 64 }],
    triggers: { hosts: [origin] },
  };
  await announce(world.registry, await world.start({ config }));
  await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
    metadata: { name: 'ci' },
    stringData: { key: 'k' },
  });
  await push('library/java', '21', `os ${java}`);
  for (const name of apps) {
    await pushApp(name);
    await world.createDeployment(name, `${world.registry.host}/shop/${name}:1.0.0`);
    const select = { strategy: 'SemVer' as const };
    await world.createPolicy(name, `${world.registry.host}/shop/${name}`, select, { rollout: { onFailure: 'Rollback', timeout: '1m' } });
  }
  const labels = { metadata: { labels: { tier: 'canary' } } };
  await world.cluster.request('PATCH', world.deploymentPath('canary'), labels, 'application/merge-patch+json');
  await world.cluster.request('POST', policies(), {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name: 'java' },
    spec: {
      image: `${world.registry.host}/library/java`,
      select: { digest: { tag: '21' } },
      workloads: [{ kinds: ['Deployment'] }],
      onNewBase: [{ trigger: { images: ['*'], webhook: { url: `${origin}/hook`, secretRef: { name: 'ci', key: 'key' } } } }],
      waves: { canaries: { matchLabels: { tier: 'canary' } }, pause: '1s' },
      poll: { interval: '8h' },
    },
  });
  await waitForStatus('all are current', ({ images }) => images?.current === apps.length);
});
after(async () => {
  await kubelet?.stop();
  await world.stop();
  ci.closeAllConnections();
  ci.close();
});

/** The workloads that run an image with this tag. */
async function running(tag: string): Promise<string[]> {
  const found = await world.listDeployments();
  return found.filter(({ spec }) => spec.template.spec.containers[0]?.image.endsWith(`:${tag}`)).map(({ metadata }) => metadata.name);
}

test('the canary is rebuilt and rolled out before the others', async () => {
  [java, patch] = ['java2', 1];
  let isSlow = true;
  // Its pods are not ready, and have not failed, until somebody has seen that the others wait.
  kubelet.holds = (image) => isSlow && image.endsWith('/shop/canary:1.0.1');
  await push('library/java', '21', `os ${java}`);
  await waitFor('the canary to run what was rebuilt', async () => (await running('1.0.1')).includes('canary'));
  const waiting = await waitForStatus(
    'the others wait',
    ({ dependents = [] }) =>
      dependents.filter(({ reason }) => reason === 'WavePending').length === 2 && dependents.some(({ state }) => state === 'Current'),
  );
  assert.match(
    waiting.dependents?.find(({ reason }) => reason === 'WavePending')?.message ?? '',
    /its rebuild is requested when the 1 before it/,
  );
  assert.deepEqual(requested, ['canary']);
  isSlow = false;
  await waitForStatus('all are current', ({ images, latest }) => images?.current === apps.length && latest?.digest !== undefined);
  assert.deepEqual(requested.toSorted(), apps);
});

test('a base whose canary is rolled back is rejected, and no other image is rebuilt on it', async () => {
  requested.length = 0;
  [java, patch] = ['java3', 2];
  kubelet.crashes = (image) => image.endsWith(':1.0.2');
  const { digest } = await push('library/java', '21', `os ${java}`);
  const rejected = await waitForStatus('the base is rejected', (status) => status.rejected?.[0]?.digest === digest);
  assert.match(rejected.rejected?.[0]?.message ?? '', /Deployment \S+\/canary/);
  assert.deepEqual(requested, ['canary']);
  await waitFor('the canary to be rolled back', async () => (await running('1.0.1')).length === apps.length);
  const status = await waitForStatus('all say why they stay', ({ dependents = [] }) =>
    dependents.every(({ reason }) => reason === 'BaseRejected'),
  );
  assert.equal(status.conditions?.find(({ type }) => type === 'Ready')?.reason, 'BaseRejected');
  assert.deepEqual(requested, ['canary']);
});
