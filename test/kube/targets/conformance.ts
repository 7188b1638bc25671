import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createKubeClient, type KubeClient } from '../../../src/kube/client.ts';
import { patchImages } from '../../../src/kube/patch-images.ts';
import { projectWorkload } from '../../../src/kube/project-workload.ts';
import { readWorkload } from '../../../src/kube/read-workload.ts';
import { listPath, objectPath } from '../../../src/kube/resource-path.ts';
import type { TargetKind } from '../../../src/kube/target-kind.ts';
import { targets } from '../../../src/kube/targets/index.ts';
import { type ControlPlane, startControlPlane } from '../../harness/control-plane.ts';

type RawObject = { metadata: { annotations?: Record<string, string>; generation: number } } & Record<string, unknown>;

const toWeb = (to: string, from = 'shop/web:1') => ({ container: 'web', index: 0, from, to });

/** Runs what every target must fulfil against a real API server; `manifest` is an object with the containers web (shop/web:1) and proxy (proxy:1). */
export function testTarget(target: TargetKind, manifest: (name: string) => object): void {
  let controlPlane: ControlPlane;
  let client: KubeClient;
  let namespace: string;
  before(async () => {
    controlPlane = await startControlPlane({ fsync: false });
    client = createKubeClient({ kubeconfig: controlPlane.kubeconfigPath });
    namespace = await controlPlane.namespace();
  });
  after(async () => {
    await client.close();
    await controlPlane.stop();
  });

  const ref = (name: string) => ({ kind: target.kind, namespace, name });
  const readRaw = (name: string) => controlPlane.request<RawObject>('GET', objectPath(target, namespace, name));
  const created = async (name: string) => {
    await controlPlane.request('POST', `${listPath(target, namespace)}?fieldManager=kubectl-create`, manifest(name));
    const workload = await readWorkload(client, ref(name));
    assert.ok(workload);
    return workload;
  };
  const podSpecOf = (raw: unknown) => target.podSpecPath.reduce((value, part) => (value as Record<string, unknown>)[part], raw) as object;

  test('is in the list', () => assert.ok(targets.includes(target)));

  test('a new object is read with the owner of its images', async () => {
    const workload = await created('new');
    assert.deepEqual(workload.containers, [
      { name: 'web', image: 'shop/web:1', imageOwner: 'kubectl-create' },
      { name: 'proxy', image: 'proxy:1', imageOwner: 'kubectl-create' },
    ]);
    assert.equal(workload.hasAnnotations, false);
  });

  test('objects are found by the paths of the kind', async () => {
    await created('listed');
    for (const path of [listPath(target), listPath(target, namespace)]) {
      const { items } = await client.request<{ items: unknown[] }>({ method: 'GET', path });
      assert.ok(items.some((raw) => projectWorkload(target, raw).name === 'listed'));
    }
    assert.equal(await readWorkload(client, ref('missing')), undefined);
  });

  test('a patch changes the image, the cause of the change, and nothing else', async () => {
    const workload = await created('patched');
    const before = await readRaw('patched');
    const result = await patchImages(client, workload, [toWeb('shop/web:2')], 'because of a push');
    const raw = await readRaw('patched');
    assert.deepEqual(result, { kind: 'patched', workload: projectWorkload(target, raw) });
    assert.deepEqual(projectWorkload(target, raw).containers, [
      { name: 'web', image: 'shop/web:2', imageOwner: 'image-watcher' },
      { name: 'proxy', image: 'proxy:1', imageOwner: 'kubectl-create' },
    ]);
    assert.deepEqual(raw.metadata.annotations, { 'kubernetes.io/change-cause': 'because of a push' });
    assert.equal(raw.metadata.generation, before.metadata.generation + 1);
    const reverted = JSON.parse(JSON.stringify(podSpecOf(raw)).replace('shop/web:2', 'shop/web:1')) as object;
    assert.deepEqual(reverted, podSpecOf(before));
  });

  test('a patch for what is not there any more changes nothing', async () => {
    const workload = await created('stale');
    const stale = toWeb('shop/web:3', 'shop/web:0');
    assert.deepEqual(await patchImages(client, workload, [stale], 'why'), { kind: 'conflict' });
    assert.equal((await readRaw('stale')).metadata.generation, workload.generation);
  });
}
