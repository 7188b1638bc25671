/** Images in ConfigMaps that the operator names: the one key is written, and the workloads that read it are restarted once, watched and rolled back, on real controllers. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startKubeProxy, type KubeProxy } from '../harness/kube-proxy.ts';
import { pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { holdKube } from './hold-requests.ts';
import { playKubelet } from './pods.ts';
import { resultsOf } from './rollout-world.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

interface ConfigMap {
  readonly data: Readonly<Record<string, string>>;
}

const app = 'registry.example.com/shop/gateway:1';
const allowed = 'bundles';

describe('images in ConfigMaps', () => {
  let world: World;
  let service: Service;
  let proxy: KubeProxy;
  let tokenFile: string;
  let kubelet: ReturnType<typeof playKubelet>;
  before(async () => {
    // Permissions for the named ConfigMaps alone.
    const rule = { apiGroups: [''], resources: ['configmaps'], resourceNames: [allowed], verbs: ['get', 'list', 'watch', 'patch'] };
    world = await startWorld({ controllers: true, extraRules: [rule] });
    kubelet = playKubelet(world.cluster, world.namespace);
    proxy = await startKubeProxy(world.cluster, world.kubeconfig);
    proxy.tokens.add('token');
    tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, 'token');
  });
  after(async () => {
    await world.stop();
    await proxy.stop();
  });

  const image = (tag: string) => `${world.quiet.host}/shop/bundle:${tag}`;
  const mapPath = (name: string) => `/api/v1/namespaces/${world.namespace}/configmaps/${name}`;
  const readMap = async (name: string) => (await world.cluster.request<ConfigMap>('GET', mapPath(name))).data;
  const createMap = (name: string, data: Readonly<Record<string, string>>) =>
    world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data,
    });
  const follow = (policy: string, name: string, fields: object, more: object = {}) =>
    world.createPolicy(
      policy,
      `${world.quiet.host}/shop/bundle`,
      { strategy: 'SemVer' },
      {
        targets: [{ apiVersion: 'v1', kind: 'ConfigMap', name, fields }],
        rollout: { onFailure: 'Rollback' },
        ...more,
      },
    );
  const push = async (tag: string) => {
    const { digest } = await pushImage({ host: world.quiet.host, repository: 'shop/bundle', tag, content: tag });
    assert.equal((await deliver(service, harborBody(world.quiet.host, 'shop/bundle', [{ tag }]))).status, 202);
    return digest;
  };
  const waitForMap = (key: string, value: string) => waitFor(`${key} to be ${value}`, async () => (await readMap(allowed))[key] === value);
  const waitForRestarts = (times: number) =>
    waitFor(`${times} restarts`, async () => {
      const deployment = await world.readDeployment('gateway');
      return deployment.metadata.generation - 1 >= times && deployment;
    });
  /** All pods become ready, whichever the controllers have made and are about to remove, until the last restart is out. */
  const comesUp = () =>
    waitFor('gateway to be out', async () => {
      const { metadata, status } = await world.cluster.request<{
        metadata: { generation: number };
        status?: { observedGeneration?: number; replicas?: number; updatedReplicas?: number; availableReplicas?: number };
      }>('GET', world.deploymentPath('gateway'));
      const { observedGeneration, replicas, updatedReplicas, availableReplicas } = status ?? {};
      if (observedGeneration === metadata.generation && [replicas, updatedReplicas, availableReplicas].every((count) => count === 1))
        return true;
      const pods = `/api/v1/namespaces/${world.namespace}/pods`;
      const { items } = await world.cluster.request<{ items: { metadata: { name: string } }[] }>(
        'GET',
        `${pods}?labelSelector=app%3Dgateway`,
      );
      const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] };
      for (const { metadata: pod } of items)
        await world.cluster.request('PATCH', `${pods}/${pod.name}/status`, { status: ready }).catch(() => undefined);
      return false;
    });
  const waitForResult = (first: string) =>
    waitFor(`the newest change to be ${first}`, async () => {
      const [newest] = resultsOf(await world.readStatus('bundle'));
      assert.equal(newest, first);
      return true;
    });
  const options = (kubeconfig = world.kubeconfig) => ({
    kubeconfig,
    config: {
      customTargets: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          namespace: world.namespace,
          name: allowed,
          fields: [
            { path: 'data.bundle', image: `${world.quiet.host}/shop/bundle` },
            { path: 'data.tag', image: `${world.quiet.host}/shop/bundle` },
          ],
          restarts: [
            { kind: 'Deployment', name: 'gateway' },
            { kind: 'StatefulSet', name: 'absent' },
          ],
        },
      ],
    },
  });

  it('are written to the one key by a push, which restarts the named workload once and watches its rollout', async () => {
    service = await world.start(options(writeKubeconfig(proxy.server, { tokenFile })));
    await pushImage({ host: world.quiet.host, repository: 'shop/bundle', tag: '1.0.0', content: '1.0.0' });
    await createMap(allowed, { bundle: image('1.0.0'), other: image('1.0.0') });
    await world.createDeployment('gateway', app);
    await kubelet.becomesReady('gateway', app);
    await follow('bundle', allowed, { image: 'data.bundle' });
    await world.waitForFirstLook('bundle');
    await push('1.1.0');
    await waitForMap('bundle', image('1.1.0'));
    await waitForRestarts(1);
    await world.waitForCondition('bundle', 'Reconciling', 'Progressing');
    await comesUp();
    await world.waitForCondition('bundle', 'Ready', 'UpToDate');
    await waitForResult('1.1.0 Webhook RolledOut');
    assert.deepEqual(await readMap(allowed), { bundle: image('1.1.0'), other: image('1.0.0') });
    assertPatchedTimes(await world.readDeployment('gateway'), 1);
  });

  it('are rolled back in the ConfigMap if the restarted pods fail, and the workload is restarted again', async () => {
    const digest = await push('1.2.0');
    await waitForMap('bundle', image('1.2.0'));
    await waitForRestarts(2);
    await kubelet.crashes('gateway', app, true);
    await waitForMap('bundle', image('1.1.0'));
    await waitForRestarts(3);
    await comesUp();
    await world.waitForCondition('bundle', 'Stalled', 'RejectedDigest');
    await waitForResult('1.1.0 Rollback RolledOut');
    const { rejected = [] } = await world.readStatus('bundle');
    assert.deepEqual(
      rejected.map((one) => [one.tag, one.digest, one.reason]),
      [['1.2.0', digest, 'CrashLoop']],
    );
    assertPatchedTimes(await world.readDeployment('gateway'), 3);
  });

  it('restart no workload when somebody else writes the ConfigMap', async () => {
    await world.cluster.request('PATCH', mapPath(allowed), { data: { other: 'changed' } }, 'application/merge-patch+json');
    await push('1.3.0');
    await waitForMap('bundle', image('1.3.0'));
    await waitForRestarts(4);
    await comesUp();
    await waitForResult('1.3.0 Webhook RolledOut');
    assertPatchedTimes(await world.readDeployment('gateway'), 4);
  });

  it('restart the workload once if the service is killed between the change and the restart', async () => {
    const held = holdKube(proxy, 'PATCH', /\/deployments\/gateway/);
    await push('1.4.0');
    await held.reached;
    await service.kill9();
    assert.equal((await readMap(allowed))['bundle'], image('1.4.0'));
    assertPatchedTimes(await world.readDeployment('gateway'), 4);
    // Two replicas compare at the same time, and then the restart of the dead one arrives.
    [service] = await Promise.all([world.start(options()), world.start(options())]);
    await waitForRestarts(5);
    held.release();
    await comesUp();
    await waitForResult('1.4.0 Webhook RolledOut');
    assertPatchedTimes(await world.readDeployment('gateway'), 5);
  });

  it('are written to no other key, ConfigMap, repository or kind of object than the operator names', async () => {
    await createMap('others', { bundle: image('1.0.0') });
    const targets = {
      'other-key': { name: allowed, fields: { image: 'data.other' } },
      'other-map': { name: 'others', fields: { image: 'data.bundle' } },
      selected: { selector: { matchLabels: { a: 'b' } }, fields: { image: 'data.bundle' } },
      'system-map': { name: allowed, namespace: 'kube-system', fields: { image: 'data.bundle' } },
    };
    for (const [name, target] of Object.entries(targets)) {
      await world.createPolicy(
        name,
        `${world.quiet.host}/shop/bundle`,
        { strategy: 'SemVer' },
        {
          targets: [{ apiVersion: 'v1', kind: 'ConfigMap', ...target }],
        },
      );
      await world.waitForCondition(name, 'Stalled', 'FieldNotAllowed');
    }
    await world.createPolicy(
      'other-image',
      `${world.quiet.host}/shop/other`,
      { strategy: 'SemVer' },
      {
        targets: [{ apiVersion: 'v1', kind: 'ConfigMap', name: allowed, fields: { image: 'data.bundle' } }],
      },
    );
    await world.waitForCondition('other-image', 'Stalled', 'FieldNotAllowed');
    assert.deepEqual(await readMap('others'), { bundle: image('1.0.0') });
  });
});
