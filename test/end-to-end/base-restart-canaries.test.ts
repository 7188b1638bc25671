/** Canaries that are restarted come before workloads that are rebased, and what fails with them reaches nobody else: with the real controllers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Repetition } from '../../src/core/async/repeat.ts';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { runPods } from '../demo/kubelet.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { basePath, observeDeployments, pushApplications, pushBase } from './base-fleet.ts';
import { deliver, harborBody, startWorld, type Deployment, type Service, type World } from './world.ts';

/** Rebased, each under its own tag. */
const apps = ['api', 'web'];

describe('canaries that are restarted, with other workloads that are rebased,', () => {
  let world: World;
  let service: Service;
  let pods: Repetition;
  let seen: Awaited<ReturnType<typeof observeDeployments>>;
  /** Whether pods of the canary do not start. */
  let isCanaryHeld = false;

  before(async () => {
    world = await startWorld({ controllers: true, extraRules: shippedRules('work-rebase') });
    const { host } = world.quiet;
    const digest = await pushBase(host, '21.0.1');
    await pushApplications(host, apps, '21.0.1', digest);
    await pushApplications(host, ['canary'], '21.0.1', digest, 'main');
    // A pod whose start fails is started again.
    const crashes = (image: string) =>
      isCanaryHeld && image.includes('/canary:') ? Promise.reject(new Error('it does not start')) : Promise.resolve(false);
    pods = runPods(world.cluster, world.namespace, { crashes, imageIdOf });
    await deploy('canary', 'main', { canary: 'true' });
    for (const name of apps) await deploy(name, '1.2.3');
    await waitFor('all Deployments to be out', async () => {
      const { items } = await world.cluster.request<{ items: { status: { availableReplicas?: number } }[] }>('GET', deployments());
      return items.every(({ status }) => status.availableReplicas === 1);
    });
    seen = await observeDeployments(world.cluster, world.namespace);
    service = await world.start();
    const auths = { auths: { [host]: { username: 'rebaser', password: 'x' } } };
    await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
      metadata: { name: 'rebaser' },
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': Buffer.from(JSON.stringify(auths)).toString('base64') },
    });
    await world.cluster.request('POST', policies(), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'BaseImagePolicy',
      metadata: { name: 'java' },
      spec: {
        image: `${host}/${basePath}`,
        select: { semver: { range: '21.x' } },
        workloads: [{ kinds: ['Deployment'] }],
        onNewBase: [{ restart: { images: [`${host}/shop/canary`] } }, { rebase: { images: ['*'], pushSecret: { name: 'rebaser' } } }],
        waves: { maxParallel: 5, canaries: { matchLabels: { canary: 'true' } }, pause: '1s', maxFailures: 1 },
        poll: { interval: '8h' },
      },
    });
    await waitForStatus('all images are current', ({ images }) => images?.current === 3);
  });
  after(async () => {
    seen?.stop();
    await pods?.stop();
    await world.stop();
  });

  const deployments = (name = '') => `/apis/apps/v1/namespaces/${world.namespace}/deployments/${name}`.replace(/\/$/, '');
  const policies = (name = '') =>
    `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`.replace(/\/$/, '');

  async function imageIdOf(image: string): Promise<string> {
    const [, repository = '', tag = ''] = /^[^/]+\/(.+):([\w.-]+)$/.exec(image) ?? [];
    const accept = 'application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json';
    const head = await fetch(`http://${world.quiet.host}/v2/${repository}/manifests/${tag}`, { method: 'HEAD', headers: { accept } });
    assert.ok(head.ok, `HEAD ${image}: ${head.status}`);
    return `${world.quiet.host}/${repository}@${head.headers.get('docker-content-digest')}`;
  }

  async function deploy(name: string, tag: string, more: object = {}): Promise<void> {
    const labels = { app: name };
    const containers = [{ name: 'c0', image: `${world.quiet.host}/shop/${name}:${tag}`, imagePullPolicy: 'Always' }];
    const template = { metadata: { labels }, spec: { containers } };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    const metadata = { name, labels: { ...labels, ...more } };
    await world.cluster.request('POST', deployments(), { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
  }

  async function readStatus(): Promise<BaseStatus> {
    return ((await world.cluster.request('GET', policies('java'))) as { status?: BaseStatus }).status ?? {};
  }

  const waitForStatus = (what: string, isReached: (status: BaseStatus) => boolean) =>
    waitFor(`java: ${what}`, async () => {
      const status = await readStatus();
      if (isReached(status)) return status;
      throw new Error(JSON.stringify(status, null, 1));
    });

  /** Waits for another reconcile, which begins now. */
  async function check(): Promise<void> {
    const at = new Date().toISOString();
    await world.annotate(policies('java'), { 'operator.technomad.dev/requested-at': at });
    await waitForStatus('it is reconciled again', ({ lastHandledRequest }) => lastHandledRequest === at);
  }

  async function restartsOf(name: string): Promise<readonly string[]> {
    const { spec } = (await world.readDeployment(name)) as Deployment & {
      spec: { template: { metadata: { annotations?: Record<string, string> } } };
    };
    return Object.keys(spec.template.metadata.annotations ?? {}).filter((key) => key === 'kubectl.kubernetes.io/restartedAt');
  }

  /** The tag of the canary has an image on the new version of the base already when this is announced. */
  async function announceBase(version: string): Promise<string> {
    const digest = await pushBase(world.quiet.host, version);
    await pushApplications(world.quiet.host, ['canary'], version, digest, 'main');
    await deliver(service, harborBody(world.quiet.host, 'shop/canary', [{ tag: 'main' }]));
    await deliver(service, harborBody(world.quiet.host, basePath, [{ tag: version }]));
    return digest;
  }

  it('delay rebases until they have rolled out, also when the service is killed', async () => {
    isCanaryHeld = true;
    const digest = await announceBase('21.0.2');
    await waitForStatus('the canary is restarted', ({ latest, waves }) => latest?.digest === digest && waves?.progressing === 1);
    assert.deepEqual(await restartsOf('canary'), ['kubectl.kubernetes.io/restartedAt']);
    await check();
    await service.kill9();
    await service.restart();
    await check();
    assert.equal(seen.changes.length, 0, 'nothing else is changed while the canary starts');
    isCanaryHeld = false;
    await waitForStatus('all images are current', ({ images, waves }) => images?.current === 3 && waves?.progressing === 0);
    assert.equal(seen.error, undefined);
    assert.deepEqual(seen.changes.map(({ name }) => name).toSorted(), apps, 'each is changed once');
    for (const { name, besides } of seen.changes) assert.ok(!besides.includes('canary'), `${name} beside the canary`);
    assert.equal((await world.readDeployment('canary')).metadata.generation, 2, 'the canary is restarted once');
  });

  it('cause the base to be rejected if they fail, and a canary rebased before them to be rolled back', async () => {
    const former = new Map(
      (await world.listDeployments()).map(({ metadata, spec }) => [metadata.name, spec.template.spec.containers[0]?.image]),
    );
    await world.cluster.request('PATCH', deployments('api'), { metadata: { labels: { canary: 'true' } } });
    await world.cluster.request('PATCH', deployments('canary'), { spec: { progressDeadlineSeconds: 2 } });
    await check();
    seen.clear();
    isCanaryHeld = true;
    const digest = await announceBase('21.0.3');
    const status = await waitForStatus('21.0.3 is rejected', ({ rejected = [] }) => rejected.some((one) => one.digest === digest));
    assert.match(status.rejected?.[0]?.message ?? '', /Deployment .*canary/);
    await waitFor('the canary that was rebased to run its former image', async () => {
      const [changed, back] = seen.changesOf('api');
      return changed !== undefined && changed !== former.get('api') && back === former.get('api');
    });
    await check();
    assert.deepEqual(
      seen.changes.map(({ name }) => name),
      ['api', 'api'],
    );
    const ready = (await readStatus()).conditions?.find(({ type }) => type === 'Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'BaseRejected']);
  });
});
