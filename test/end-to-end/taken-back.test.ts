/** What a change rests on is taken back, or the workload is changed, while the patch is on its way. The real API server is behind a proxy that holds up requests. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { confirmedForMs } from '../../src/core/model/confirmation.ts';
import { startKubeProxy, type KubeProxy } from '../harness/kube-proxy.ts';
import { pushImage } from '../harness/push-image.ts';
import { askRedis } from '../harness/redis.ts';
import { startSilentRelay, type SilentRelay } from '../harness/silent-relay.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Deployment, type Service, type World } from './world.ts';

const consent = 'operator.technomad.dev/allow-policies-from';
const approve = 'operator.technomad.dev/approve';

describe('a change on its way', () => {
  let world: World;
  let proxy: KubeProxy;
  let relay: SilentRelay;
  let service: Service;
  before(async () => {
    world = await startWorld();
    proxy = await startKubeProxy(world.cluster, world.kubeconfig);
    proxy.tokens.add('token');
    relay = await startSilentRelay(Number(new URL(proxy.server).port));
    const tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, 'token');
    service = await world.start({ kubeconfig: writeKubeconfig(`http://127.0.0.1:${relay.port}`, { tokenFile }) });
  });
  after(async () => {
    await world.stop();
    relay.stop();
    await proxy.stop();
  });
  afterEach(() => proxy.heal());

  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = (name: string, tag: string) => pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: tag });
  const announce = async (name: string, to: Service = service) =>
    assert.equal((await deliver(to, harborBody(world.quiet.host, `shop/${name}`, [{ tag: '2.0.0' }]))).status, 202);
  const createPolicy = (name: string, extra: object = {}) =>
    world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' }, extra);
  const createDeployment = (namespace: string, name: string, labels: Record<string, string>) => {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c0', image: image(name, '1.0.0') }] } };
    const spec = { selector: { matchLabels: { app: name } }, template };
    const metadata = { name, labels, annotations: { owner: 'somebody' } };
    return world.cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec,
    });
  };
  const isRequested = (request: RegExp) => waitFor(`${request} to be on its way`, () => proxy.requests.some((one) => request.test(one)));
  const pushesAreOver = async () => {
    const commands = ['LLEN {image-watcher}:push:wait', 'LLEN {image-watcher}:push:active', 'ZCARD {image-watcher}:push:delayed'];
    const replies = await Promise.all(commands.map((command) => askRedis(world.redis.port, command)));
    return replies.every((reply) => reply.startsWith(':0'));
  };

  const cases: readonly {
    what: string;
    name: string;
    isElsewhere?: true;
    takeBack: (path: string, namespace: string) => Promise<unknown>;
  }[] = [
    { what: 'its policy is suspended', name: 'suspended', takeBack: () => world.patchPolicy('suspended', { suspend: true }) },
    {
      what: 'the owners of the namespace withdraw their consent',
      name: 'withdrawn',
      isElsewhere: true,
      takeBack: (_, namespace) => world.annotate(`/api/v1/namespaces/${namespace}`, { [consent]: null }),
    },
    {
      what: 'the Deployment is paused',
      name: 'paused',
      takeBack: (path) => world.cluster.request('PATCH', path, { spec: { paused: true } }, 'application/merge-patch+json'),
    },
    {
      what: 'the label that selected the Deployment is removed',
      name: 'unlabelled',
      takeBack: (path) => world.cluster.request('PATCH', path, { metadata: { labels: { uses: null } } }, 'application/merge-patch+json'),
    },
    {
      what: 'the Deployment is recreated without the label that selected it',
      name: 'anew',
      async takeBack(path, namespace) {
        await world.cluster.request('DELETE', path);
        await createDeployment(namespace, 'anew', { other: 'label' });
      },
    },
  ];
  for (const { what, name, isElsewhere, takeBack } of cases) {
    it(`is not sent again after a 429 when ${what}`, async () => {
      const namespace = isElsewhere === undefined ? world.namespace : await world.cluster.namespace('elsewhere');
      if (isElsewhere !== undefined) await world.annotate(`/api/v1/namespaces/${namespace}`, { [consent]: world.namespace });
      await push(name, '1.0.0');
      await createDeployment(namespace, name, { uses: name });
      await createPolicy(name, { targets: [{ kind: 'Deployment', namespace, selector: { matchLabels: { uses: name } } }] });
      await world.waitForFirstLook(name);
      await push(name, '2.0.0');
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
      proxy.spoil(
        { status: 429, headers: { 'retry-after': '1' } },
        { method: 'PATCH', path: new RegExp(`/deployments/${name}\\?`), times: 3 },
      );
      await announce(name);
      await isRequested(new RegExp(`^PATCH .*/deployments/${name}\\?`));
      await takeBack(path, namespace);
      await waitFor('the push to be over', pushesAreOver);
      const { spec } = await world.cluster.request<Deployment>('GET', path);
      assert.equal(spec.template.spec.containers[0]?.image, image(name, '1.0.0'));
    });
  }

  it('does not undo a manual change that somebody made after another replica had made the same change', async () => {
    const name = 'overtaken';
    await push(name, '1.0.0');
    await createDeployment(world.namespace, name, {});
    await createPolicy(name);
    await world.waitForFirstLook(name);
    const other = await world.start({ config: { redis: { url: world.redis.url, prefix: '{other}' } } });
    await push(name, '2.0.0');
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    proxy.spoil({ after: held }, { method: 'PATCH', path: /\/deployments\/overtaken\?/ });
    await announce(name);
    await isRequested(/^PATCH .*\/deployments\/overtaken\?/);
    await announce(name, other);
    await world.waitForImage(name, image(name, '2.0.0'));
    await world.setImage(name, image(name, '1.0.0'));
    release();
    await waitFor('the push to be over', pushesAreOver);
    assertPatchedTimes(await world.readDeployment(name), 2);
    await other.stop();
  });

  it('is planned again when the API server shows a withdrawn approval that the watch has not reported', async () => {
    const name = 'approved';
    await push(name, '1.0.0');
    await createDeployment(world.namespace, name, {});
    await createPolicy(name, { update: { mode: 'Approval' } });
    await world.waitForFirstLook(name);
    const { digest } = await push(name, '2.0.0');
    await world.annotate(world.policyPath(name), { [approve]: `2.0.0@${digest}` });
    const readyz = async () => (await fetch(`${service.operationsUrl}/readyz?verbose`)).text();
    const quietSeconds = async () => Number(/^\S+kubernetes policies.*quiet for (\d+) s/m.exec(await readyz())?.[1] ?? 0);
    await waitFor('the watch of the policies to be quiet', async () => (await quietSeconds()) >= confirmedForMs / 1_000);
    relay.swallow();
    await world.annotate(world.policyPath(name), { [approve]: null });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    proxy.spoil({ after: held }, { method: 'GET', path: /\/imagepolicies\/approved$/, times: 1_000 });
    const answers = async () => {
      const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
      const counts = [...metrics.matchAll(/^image_watcher_registry_requests_total\{.* (\d+)$/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await answers();
    await announce(name);
    await waitFor('the registry to answer', async () => (await answers()) > before);
    await isRequested(/^GET .*\/imagepolicies\/approved$/);
    proxy.heal();
    release();
    await world.waitForCondition(name, 'ApprovalRequired', 'ApprovalRequired');
    assertPatchedTimes(await world.readDeployment(name), 0);
  });
});
