/** A real API server behind a proxy that spoils requests, and objects that go away at a bad moment. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { startKubeProxy, type KubeFault, type KubeProxy } from '../harness/kube-proxy.ts';
import { askRedis } from '../harness/redis.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { createFleet, eachOf } from './fleet.ts';
import { assertPatchedTimes, deliver, deliverUntilAccepted, harborBody, startWorld, type Service, type World } from './world.ts';

describe('the API server', () => {
  let world: World;
  let proxy: KubeProxy;
  let service: Service;
  const tokenFile = join(tempFolder('token'), 'token');
  before(async () => {
    world = await startWorld();
    proxy = await startKubeProxy(world.cluster, world.kubeconfig);
    writeFileSync(tokenFile, 'first');
    proxy.tokens.add('first');
    service = await world.start({ kubeconfig: writeKubeconfig(proxy.server, { tokenFile }) });
  });
  after(async () => {
    await world.stop();
    await proxy.stop();
  });

  afterEach(() => proxy.heal());

  const image = (name: string, tag = '1.0.1') => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = (name: string, tag: string) => pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: tag });
  const prepare = async (name: string, extra: object = {}) => {
    await push(name, '1.0.0');
    await world.createDeployment(name, image(name, '1.0.0'));
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' }, extra);
    await world.waitForFirstLook(name);
    await push(name, '1.0.1');
  };
  const announce = async (name: string, tag = '1.0.1') => {
    assert.equal((await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag }]))).status, 202);
  };
  const countOf = async (what: 'policies' | 'workloads') => {
    const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    return Number(new RegExp(`^image_watcher_${what} (\\d+)$`, 'm').exec(metrics)?.[1]);
  };
  const policyPath = (name: string) => `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/imagepolicies/${name}`;

  for (const [what, fault, times] of [
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '1' } }, 2],
    ['500', { status: 500 }, 2],
    ['503 of a load balancer', { status: 503, body: {} }, 2],
    ['504', { status: 504 }, 6],
    ['the patch done and its answer lost', { loseAnswer: true }, 2],
  ] as const satisfies readonly (readonly [what: string, fault: KubeFault, times: number])[]) {
    it(`answers ${what}: the right image is applied, and changed once`, async () => {
      const name = `fault-${what.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}`;
      await prepare(name);
      const path = new RegExp(`/deployments/${name}\\?`);
      proxy.spoil(fault, { method: 'PATCH', path, times });
      await announce(name);
      assertPatchedTimes(await world.waitForImage(name, image(name)), 1);
      await world.waitForCondition(name, 'Ready', 'UpToDate');
      assertPatchedTimes(await world.readDeployment(name), 1);
    });
  }

  it('loses the answers of status writes: the right status is written', async () => {
    await prepare('unwritten');
    proxy.spoil({ loseAnswer: true }, { method: 'PATCH', path: /imagepolicies\/unwritten\/status/, times: 2 });
    await announce('unwritten');
    await waitFor('the change in the history', async () => (await world.readStatus('unwritten')).history?.length === 1);
    await world.waitForCondition('unwritten', 'Ready', 'UpToDate');
    assertPatchedTimes(await world.readDeployment('unwritten'), 1);
    assert.equal((await world.readStatus('unwritten')).history?.length, 1);
  });

  it('is slow with one workload: others do not wait for it', async () => {
    await prepare('slow');
    await prepare('quick');
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    proxy.spoil({ after: held }, { method: 'PATCH', path: /deployments\/slow\?/, times: 1_000 });
    await announce('slow');
    await waitFor('the slow one to be on its way', () => proxy.requests.some((request) => /^PATCH .*deployments\/slow\?/.test(request)));
    await announce('quick');
    assertPatchedTimes(await world.waitForImage('quick', image('quick')), 1);
    assertPatchedTimes(await world.readDeployment('slow'), 0);
    proxy.heal();
    release();
    assertPatchedTimes(await world.waitForImage('slow', image('slow')), 1);
  });

  it('is slow with the status of a push: a workload created before it is written is updated, too', async () => {
    const createLabelled = (name: string) => {
      const labels = { uses: 'growing' };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: image('growing', '1.0.0') }] } };
      const path = `/apis/apps/v1/namespaces/${world.namespace}/deployments`;
      return world.cluster.request('POST', path, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name, labels },
        spec: { selector: { matchLabels: labels }, template },
      });
    };
    await push('growing', '1.0.0');
    await createLabelled('growing');
    const targets = [{ kind: 'Deployment', selector: { matchLabels: { uses: 'growing' } } }];
    await world.createPolicy('growing', `${world.quiet.host}/shop/growing`, { strategy: 'SemVer' }, { targets });
    await world.waitForFirstLook('growing');
    await push('growing', '1.0.1');
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    proxy.spoil({ after: held }, { method: 'PATCH', path: /imagepolicies\/growing\/status/, times: 1_000 });
    await announce('growing');
    await world.waitForImage('growing', image('growing'));
    const known = await countOf('workloads');
    await createLabelled('late');
    await waitFor('the service to know it', async () => (await countOf('workloads')) > known);
    proxy.heal();
    release();
    assertPatchedTimes(await world.waitForImage('late', image('growing')), 1);
    assertPatchedTimes(await world.readDeployment('growing'), 1);
  });

  it('breaks watches repeatedly and answers 410 and 500 to them: nothing is missed', async () => {
    const fleet = await createFleet(world, 'watched', 30);
    const sending = eachOf(fleet.deliveries, (body) => deliverUntilAccepted(body, service));
    proxy.spoil({ status: 410 }, { path: /watch=true/, times: 3 });
    proxy.spoil({ status: 500 }, { path: /watch=true/, times: 3 });
    for (let cut = 0; cut < 3; cut++) {
      const before = proxy.requests.length;
      proxy.cutWatches();
      await waitFor('another watch', () => proxy.requests.slice(before).some((request) => request.includes('watch=true')));
    }
    await sending;
    await fleet.assertPatchedOnce();
    proxy.heal();
    // What is created after all that is seen, too.
    await prepare('after-cuts');
    await announce('after-cuts');
    assertPatchedTimes(await world.waitForImage('after-cuts', image('after-cuts')), 1);
  });

  it('removes a permission: that is reported, and the poll catches up when it is granted again', async () => {
    const message = 'deployments.apps "forbidden" is forbidden: User "x" cannot patch resource "deployments" in API group "apps"';
    const body = { kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message };
    proxy.spoil({ status: 403, body }, { method: 'PATCH', path: /deployments\/forbidden\?/, times: 1_000_000 });
    await prepare('forbidden', { poll: { interval: '5s' } });
    await announce('forbidden');
    const stalled = await world.waitForCondition('forbidden', 'Stalled', 'PatchRejected');
    assert.match(stalled.message, /grant image-watcher the verb "patch" on "deployments"/);
    proxy.heal();
    assertPatchedTimes(await world.waitForImage('forbidden', image('forbidden')), 1);
    await world.waitForCondition('forbidden', 'Ready', 'UpToDate');
  });

  it('rejects an expired token: the new one is read from its file', async () => {
    await prepare('expired');
    proxy.tokens.delete('first');
    proxy.cutWatches();
    await announce('expired');
    await waitFor('a request with the old token', () => proxy.isRefusing());
    proxy.tokens.add('second');
    writeFileSync(tokenFile, 'second');
    assertPatchedTimes(await world.waitForImage('expired', image('expired')), 1);
  });

  it('deletes a policy while its push is processed: nothing is changed, and the push completes', async () => {
    await prepare('deleted');
    await prepare('bystander');
    world.quiet.freeze();
    await announce('deleted');
    await announce('bystander');
    const known = await countOf('policies');
    await world.cluster.request('DELETE', policyPath('deleted'));
    await waitFor('the service to know', async () => (await countOf('policies')) < known);
    world.quiet.thaw();
    assertPatchedTimes(await world.waitForImage('bystander', image('bystander')), 1);
    await announce('deleted');
    assertPatchedTimes(await world.readDeployment('deleted'), 0);
  });

  it('has a policy renamed while its push is processed: the policy with the new name applies it once', async () => {
    await prepare('old-name');
    world.quiet.freeze();
    await announce('old-name');
    await world.cluster.request('DELETE', policyPath('old-name'));
    await world.createPolicy('new-name', `${world.quiet.host}/shop/old-name`, { strategy: 'SemVer' }, { target: 'old-name' });
    world.quiet.thaw();
    assertPatchedTimes(await world.waitForImage('old-name', image('old-name')), 1);
    await world.waitForCondition('new-name', 'Ready', 'UpToDate');
    assertPatchedTimes(await world.readDeployment('old-name'), 1);
  });

  it('deletes a namespace while its pushes are processed: those of others are not delayed', async () => {
    const going = await world.cluster.namespace('going');
    await prepare('staying');
    await push('going', '1.0.0');
    const policy = {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'ImagePolicy',
      metadata: { name: 'going' },
      spec: { image: `${world.quiet.host}/shop/going`, select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'going' }] },
    };
    const path = `/apis/operator.technomad.dev/v1/namespaces/${going}/imagepolicies`;
    await world.cluster.request('POST', path, policy);
    await push('going', '1.0.1');
    world.quiet.freeze();
    for (const name of ['going', 'staying']) await announce(name);
    await world.cluster.request('DELETE', `/api/v1/namespaces/${going}`);
    await world.cluster.request('DELETE', `${path}/going`);
    world.quiet.thaw();
    assertPatchedTimes(await world.waitForImage('staying', image('staying')), 1);
    await announce('going');
    const queueIsEmpty = async () => {
      const lengths = await Promise.all(['wait', 'active'].map((list) => askRedis(world.redis.port, `LLEN {image-watcher}:push:${list}`)));
      return lengths.every((reply) => reply.startsWith(':0'));
    };
    await waitFor('all pushes to come to an end', queueIsEmpty);
  });
});
