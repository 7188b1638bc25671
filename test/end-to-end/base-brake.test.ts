/** Suspending or deleting a BaseImagePolicy stops what is being done for it, wherever it is: in a rebase, before a child acts, before a restart, before a request to a CI system. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { after, afterEach, before, describe, it } from 'node:test';
import { confirmedForMs } from '../../src/core/model/confirmation.ts';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { buildImage } from '../bases/recognize/build-image.ts';
import { askRedis } from '../harness/redis.ts';
import { startKubeProxy, type KubeProxy } from '../harness/kube-proxy.ts';
import { startRegistryProxy, type RegistryProxy } from '../harness/registry-proxy.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { pushJava } from '../bases/rebase/java-images.ts';
import { holdKube, holdRegistry } from './hold-requests.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

describe('the brake of a BaseImagePolicy', () => {
  let world: World;
  let kube: KubeProxy;
  let registry: RegistryProxy;
  let service: Service;
  let rebuilds = 0;
  const ci = createServer((request, response) => {
    rebuilds++;
    request.resume();
    response.writeHead(202).end();
  });
  let ciUrl = '';

  before(async () => {
    world = await startWorld({ extraRules: shippedRules('work-rebase') });
    registry = await startRegistryProxy(world.quiet.host);
    ci.listen(0, '127.0.0.1');
    await once(ci, 'listening');
    ciUrl = `http://127.0.0.1:${(ci.address() as AddressInfo).port}`;
    const tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, 'token');
    kube = await startKubeProxy(world.cluster, world.kubeconfig);
    kube.tokens.add('token');
    service = await world.start({
      kubeconfig: writeKubeconfig(kube.server, { tokenFile }),
      registryHosts: [registry.host],
      config: { triggers: { hosts: [ciUrl] } },
    });
    const auth = Buffer.from(JSON.stringify({ auths: { [registry.host]: { username: 'rebaser', password: 'x' } } })).toString('base64');
    const secrets = `/api/v1/namespaces/${world.namespace}/secrets`;
    const dockerconfig = { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': auth } };
    await world.cluster.request('POST', secrets, { metadata: { name: 'rebaser' }, ...dockerconfig });
    await world.cluster.request('POST', secrets, { metadata: { name: 'ci' }, stringData: { key: 'a-signing-key' } });
  });
  after(async () => {
    await world.stop();
    await kube.stop();
    await registry.stop();
    ci.closeAllConnections();
    ci.close();
  });
  afterEach(() => {
    registry.hold = () => undefined;
    kube.heal();
  });

  const policyPath = (name = '') =>
    `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`.replace(/\/$/, '');
  const readStatus = async (name: string): Promise<BaseStatus> =>
    ((await world.cluster.request('GET', policyPath(name))) as { status?: BaseStatus }).status ?? {};
  const suspend = (name: string, isSuspended = true) =>
    world.cluster.request('PATCH', policyPath(name), { spec: { suspend: isSuspended } });
  const untilSuspended = (name: string) =>
    waitFor(`${name} to say that it is suspended`, async () =>
      (await readStatus(name)).conditions?.some(({ reason }) => reason === 'Suspended'),
    );
  const create = (name: string, spec: object) =>
    world.cluster.request('POST', policyPath(), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'BaseImagePolicy',
      metadata: { name },
      spec: { workloads: [{ selector: { matchLabels: { of: name } } }], poll: { interval: '8h' }, ...spec },
    });
  /** A Deployment that the policy of the same name selects. */
  const deploy = async (name: string, image: string): Promise<void> => {
    const labels = { app: name, of: name };
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c0', image, imagePullPolicy: 'Always' }] } };
    await world.cluster.request('POST', `/apis/apps/v1/namespaces/${world.namespace}/deployments`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels },
      spec: { selector: { matchLabels: { app: name } }, template },
    });
  };
  /** What is promised about the time after a change begins when this is over. */
  const afterTheBound = () => delay(confirmedForMs);

  /** A policy that rebases one application. */
  async function rebased(name: string) {
    const { host } = registry;
    const { app, order } = await pushJava({ registry: host, proxy: host });
    await deploy(name, `${app}:1.2.3`);
    const start = () =>
      create(name, {
        image: `${host}/${order.newBase.source.path}`,
        select: { semver: { range: '21.x' } },
        onNewBase: [{ rebase: { images: [`${host}/*`], pushSecret: { name: 'rebaser' } } }],
      });
    const { path } = order.application.source;
    const seen = registry.requests.length;
    let isPushed = false;
    return {
      app,
      path,
      /** What a child asks the registry before it acts: nobody else reads the new tag after it was pushed. */
      isAskedByChild(method: string, asked: string) {
        if (!asked.startsWith(`/v2/${path}/manifests/1.2.3-base.`)) return false;
        isPushed ||= method === 'PUT';
        return isPushed && method !== 'PUT';
      },
      start,
      isMount: (method: string, asked: string) => method === 'POST' && asked.startsWith(`/v2/${path}/blobs/uploads/?mount`),
      writes: () => registry.requests.slice(seen).filter((one) => one.method === 'PUT' && one.path.startsWith(`/v2/${path}/`)),
    };
  }
  const children = async (name: string) => {
    const query = `?labelSelector=${encodeURIComponent(`operator.technomad.dev/base-policy=${name}`)}`;
    const found = await world.cluster.request<{ items: { metadata: { name: string } }[] }>(
      'GET',
      world.policyPath('').slice(0, -1) + query,
    );
    return found.items.map(({ metadata }) => metadata.name);
  };

  it('stops a rebase whose layers are being mounted: no image is pushed, and no workload changed', async () => {
    const { start, isMount, writes } = await rebased('mounting');
    const held = holdRegistry(registry, isMount);
    await start();
    await held.reached;
    await suspend('mounting');
    await afterTheBound();
    held.release();
    await untilSuspended('mounting');
    assert.deepEqual(writes(), []);
    assert.deepEqual(await children('mounting'), []);
    assertPatchedTimes(await world.readDeployment('mounting'), 0);
    // It goes on where it was.
    await suspend('mounting', false);
    await waitFor('a child', async () => (await children('mounting')).length === 1);
    await waitFor('the workload to be changed', async () => (await world.readDeployment('mounting')).metadata.generation === 2);
  });

  it('stops the rebase of a policy that is deleted, or that does not rebase the image any more', async () => {
    for (const [name, change] of [
      ['deleted', () => world.cluster.request('DELETE', policyPath('deleted'))],
      [
        'reporting',
        () =>
          world.cluster.request(
            'PATCH',
            policyPath('reporting'),
            { spec: { onNewBase: [{ report: {} }] } },
            'application/merge-patch+json',
          ),
      ],
    ] as const) {
      const { start, isMount, writes } = await rebased(name);
      const held = holdRegistry(registry, isMount);
      await start();
      await held.reached;
      await change();
      await afterTheBound();
      held.release();
      if (name === 'reporting')
        await waitFor('the report', async () =>
          (await readStatus(name)).dependents?.some(({ state, action }) => state === 'Behind' && action === 'report'),
        );
      // Its jobs are over when those of another policy, which come later, are.
      const { start: startNext } = await rebased(`after-${name}`);
      await startNext();
      await waitFor('another policy', async () => (await children(`after-${name}`)).length === 1);
      assert.deepEqual(writes(), [], name);
      assertPatchedTimes(await world.readDeployment(name), 0);
    }
  });

  it('holds a child that has not changed its workload yet, also when its image is pushed, until the policy is resumed', async () => {
    const { start, app, path, isAskedByChild } = await rebased('held');
    const held = holdRegistry(registry, isAskedByChild);
    await start();
    const [child = ''] = await waitFor('the child', async () => {
      const found = await children('held');
      return found.length > 0 && found;
    });
    await held.reached;
    await suspend('held');
    await afterTheBound();
    held.release();
    const { message } = await world.waitForCondition(child, 'Ready', 'Suspended');
    assert.equal(message, `nothing is checked or changed, because its BaseImagePolicy ${world.namespace}/held is suspended`);
    assertPatchedTimes(await world.readDeployment('held'), 0);

    const tag =
      registry.requests.map((one) => /\/manifests\/(1\.2\.3-base\.\d+)$/.exec(one.path)?.[1]).findLast((one) => one !== undefined) ?? '';
    const { accepted } = await deliver(service, harborBody(registry.host, path, [{ tag }]));
    assert.equal(accepted.length, 1);
    await world.annotate(world.policyPath(child), { 'operator.technomad.dev/requested-at': 'now' });
    await waitFor('the child to have answered', async () => (await world.readStatus(child)).lastHandledRequest === 'now');
    assertPatchedTimes(await world.readDeployment('held'), 0);

    await suspend('held', false);
    assertPatchedTimes(await world.waitForImage('held', `${app}:${tag}`), 1);
  });

  it('keeps a child from changing its workload after its policy is gone, although nothing removes the child', async () => {
    const { start, isAskedByChild } = await rebased('orphaned');
    const held = holdRegistry(registry, isAskedByChild);
    await start();
    const [child = ''] = await waitFor('the child', async () => {
      const found = await children('orphaned');
      return found.length > 0 && found;
    });
    await held.reached;
    await world.cluster.request('DELETE', policyPath('orphaned'));
    await afterTheBound();
    held.release();
    await world.waitForCondition(child, 'Ready', 'Suspended');
    assertPatchedTimes(await world.readDeployment('orphaned'), 0);
  });

  const mutable = async (name: string, content: string) => {
    const { host } = registry;
    const base = `library/${name}`;
    await buildImage({ host, repository: base, tag: '21' }, { layers: `os ${content}`, platforms: ['linux/amd64'] });
    return { host, base };
  };

  it('stops a restart while the pods of the workload are being read', async () => {
    const name = 'restarted';
    const { host, base } = await mutable(name, 'java1');
    const pushApp = (content: string) =>
      buildImage({ host, repository: `shop/${name}`, tag: 'main' }, { layers: `os ${content} web`, platforms: ['linux/amd64'] });
    const old = await pushApp('java1');
    await deploy(name, `${host}/shop/${name}:main`);
    const pods = `/api/v1/namespaces/${world.namespace}/pods`;
    const containers = [{ name: 'c0', image: `${host}/shop/${name}:main` }];
    await world.cluster.request('POST', pods, { metadata: { name, labels: { app: name } }, spec: { containers, nodeName: 'nowhere' } });
    const containerStatuses = [
      { name: 'c0', image: '', imageID: `${host}/shop/${name}@${old.digest}`, ready: true, restartCount: 0, state: { running: {} } },
    ];
    await world.cluster.request('PATCH', `${pods}/${name}/status`, { status: { phase: 'Running', containerStatuses } });
    const restart = { image: `${host}/${base}`, select: { digest: { tag: '21' } }, onNewBase: [{ restart: { images: ['*'] } }] };
    await create(name, restart);
    await waitFor('the image to be current', async () => (await readStatus(name)).images?.current === 1);
    await mutable(name, 'java2');
    await pushApp('java2');
    const held = holdKube(kube, 'GET', /\/pods\?/);
    await world.annotate(policyPath(name), { 'operator.technomad.dev/requested-at': 'now' });
    await held.reached;
    await suspend(name);
    await afterTheBound();
    held.release();
    await untilSuspended(name);
    assertPatchedTimes(await world.readDeployment(name), 0);
    // Each try asks again, however often the API server refuses.
    kube.spoil(
      { status: 429, headers: { 'retry-after': '1' } },
      { method: 'PATCH', path: new RegExp(`/deployments/${name}\\?`), times: 1 },
    );
    await suspend(name, false);
    await waitFor('the refusal', () => !kube.isSpoiling());
    await suspend(name);
    await untilSuspended(name);
    assertPatchedTimes(await world.readDeployment(name), 0);
    await suspend(name, false);
    await waitFor('the restart', async () => (await world.readDeployment(name)).metadata.generation === 2);
  });

  it('stops a request to a CI system while its Secret is being read', async () => {
    const name = 'rebuilt';
    const { host, base } = await mutable(name, 'java1');
    const labels = () => ({ 'org.opencontainers.image.source': 'https://git.example.com/shop/web' });
    await buildImage({ host, repository: `shop/${name}`, tag: '1.0.0' }, { layers: 'os java1 web', platforms: ['linux/amd64'], labels });
    await deploy(name, `${host}/shop/${name}:1.0.0`);
    const webhook = { url: `${ciUrl}/hook`, secretRef: { name: 'ci', key: 'key' } };
    await create(name, {
      image: `${host}/${base}`,
      select: { digest: { tag: '21' } },
      onNewBase: [{ trigger: { images: ['*'], webhook } }],
    });
    await waitFor('the image to be current', async () => (await readStatus(name)).images?.current === 1);
    await mutable(name, 'java2');
    const held = holdKube(kube, 'GET', /\/secrets\/ci$/);
    await world.annotate(policyPath(name), { 'operator.technomad.dev/requested-at': 'now' });
    await held.reached;
    await suspend(name);
    await untilSuspended(name);
    await afterTheBound();
    held.release();
    await waitFor('the job to be over', async () =>
      (await askRedis(world.redis.port, 'LLEN {image-watcher}:trigger:active')).startsWith(':0'),
    );
    assert.equal(rebuilds, 0);
    await suspend(name, false);
    await waitFor('the request', () => rebuilds > 0);
    await waitFor('the status', async () => (await readStatus(name)).requests?.every(({ state }) => state === 'Requested'));
    assert.equal(rebuilds, 1);
  });
});
