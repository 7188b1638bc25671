import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openKubeClient, type KubeClient } from '../../../../src/service/kube/client.ts';
import { patchImages } from '../../../../src/service/kube/patch-images.ts';
import { refOf, type WorkloadContainer } from '../../../../src/core/model/workload.ts';
import { listSelected, readWorkload } from '../../../../src/service/kube/read-workload.ts';
import { projectWorkload } from '../../../../src/service/kube/project-workload.ts';
import { listPath, objectPath } from '../../../../src/service/kube/objects.ts';
import { type TargetKind, targets } from '../../../../src/service/kube/targets.ts';
import { type ControlPlane, borrowControlPlane } from '../../../harness/control-plane.ts';

type RawObject = { metadata: { annotations?: Record<string, string>; generation: number } } & Record<string, unknown>;

const toWeb = (to: string, from = 'shop/web:1') => ({ container: 'web', index: 0, from, to });

/** The containers web (shop/web:1) and proxy (proxy:1), after the init container migrate (shop/web:1); shop/web:1 is also in the volume web. */
export function podTemplate(app: string) {
  return {
    metadata: { labels: { app } },
    spec: {
      initContainers: [{ name: 'migrate', image: 'shop/web:1' }],
      containers: [
        { name: 'web', image: 'shop/web:1' },
        { name: 'proxy', image: 'proxy:1' },
      ],
      volumes: [
        { name: 'tmp', emptyDir: {} },
        { name: 'web', image: { reference: 'shop/web:1', pullPolicy: 'Always' } },
      ],
    },
  };
}

/** The API server says when; each container has it. */
function withoutTime({ imageSetAt, ...container }: WorkloadContainer): Omit<WorkloadContainer, 'imageSetAt'> {
  assert.ok(!Number.isNaN(Date.parse(imageSetAt ?? '')));
  return container;
}

let controlPlane: ControlPlane;
let client: KubeClient;
before(async () => {
  controlPlane = await borrowControlPlane();
  client = await openKubeClient({ kubeconfig: controlPlane.kubeconfigPath, requestTimeoutMs: 60_000 });
});
after(async () => {
  await client.close();
  await controlPlane.stop();
});

/**
 * Tests what every target must fulfil, against the file's one API server and in a namespace of its own; `manifest` is an object with that template and the label
 * app. `prepare` installs its kind.
 */
export function testTarget(
  target: TargetKind,
  manifest: (name: string) => object,
  prepare?: (controlPlane: ControlPlane) => Promise<void>,
): void {
  describe(target.kind, () => testKind(target, manifest, prepare));
}

function testKind(target: TargetKind, manifest: (name: string) => object, prepare?: (controlPlane: ControlPlane) => Promise<void>): void {
  // Lists of custom resources have no keys, unless their schema says so: then their owner is known of all or nothing.
  const untouched = prepare === undefined ? 'kubectl-create' : 'image-watcher';
  let namespace: string;
  before(async () => {
    namespace = await controlPlane.namespace();
    await prepare?.(controlPlane);
  });

  const ref = (name: string) => refOf({ ...target, namespace, name });
  const readRaw = (name: string) => controlPlane.request<RawObject>('GET', objectPath(target, namespace, name));
  const created = async (name: string) => {
    await controlPlane.request('POST', `${listPath(target, namespace)}?fieldManager=kubectl-create`, manifest(name));
    const workload = await readWorkload(client, ref(name), { target });
    assert.ok(workload);
    return workload;
  };
  const podSpecOf = (raw: unknown) => target.podSpecPath.reduce((value, part) => (value as Record<string, unknown>)[part], raw) as object;

  test('the kind is in the list, unless it is a custom resource', () => assert.equal(targets.includes(target), prepare === undefined));

  test('a new object is read with the owner of its images', async () => {
    const workload = await created('new');
    assert.deepEqual(workload.containers.map(withoutTime), [
      { name: 'web', image: 'shop/web:1', imageOwner: 'kubectl-create' },
      { name: 'proxy', image: 'proxy:1', imageOwner: 'kubectl-create' },
    ]);
    assert.deepEqual(workload.initContainers?.map(withoutTime), [{ name: 'migrate', image: 'shop/web:1', imageOwner: 'kubectl-create' }]);
    const { imageSetAt, ...volume } = workload.volumes?.[0] ?? {};
    assert.ok(!Number.isNaN(Date.parse(imageSetAt ?? '')));
    assert.deepEqual(volume, { name: 'volumes/web', image: 'shop/web:1', index: 1, imageOwner: 'kubectl-create' });
    assert.deepEqual(workload.labels, { app: 'new' });
  });

  test('objects are found at the paths of the kind', async () => {
    await created('listed');
    for (const path of [listPath(target), listPath(target, namespace)]) {
      const { items } = await client.request<{ items: unknown[] }>({ method: 'GET', path });
      assert.ok(items.some((raw) => projectWorkload(target, raw).name === 'listed'));
    }
    const selector = { matchLabels: { app: 'listed' }, matchExpressions: [{ key: 'app', operator: 'NotIn' as const, values: ['new'] }] };
    assert.deepEqual(
      (await listSelected(client, target, { namespace, selector })).map(({ name }) => name),
      ['listed'],
    );
    assert.equal(await readWorkload(client, ref('missing'), { target }), undefined);
  });

  test('a patch changes the image, the change-cause annotation and the record of the change, and nothing else', async () => {
    const workload = await created('patched');
    const before = await readRaw('patched');
    const result = await patchImages(client, workload, [toWeb('shop/web:2')], { changeCause: 'because of a push', target });
    const raw = await readRaw('patched');
    assert.deepEqual(result, { kind: 'patched', workload: projectWorkload(target, raw) });
    assert.deepEqual(projectWorkload(target, raw).containers.map(withoutTime), [
      { name: 'web', image: 'shop/web:2', imageOwner: 'image-watcher' },
      { name: 'proxy', image: 'proxy:1', imageOwner: untouched },
    ]);
    // DaemonSets have one of their own, which counts their generations.
    const { 'deprecated.daemonset.template.generation': _, ...annotations } = raw.metadata.annotations ?? {};
    assert.deepEqual(annotations, { 'kubernetes.io/change-cause': 'because of a push' });
    assert.equal(raw.metadata.generation, before.metadata.generation + 1);
    const reverted = JSON.parse(JSON.stringify(podSpecOf(raw)).replace('shop/web:2', 'shop/web:1')) as object;
    assert.deepEqual(reverted, podSpecOf(before));
  });

  test('a patch for a container that no longer exists changes nothing', async () => {
    const workload = await created('stale');
    const stale = toWeb('shop/web:3', 'shop/web:0');
    assert.deepEqual(await patchImages(client, workload, [stale], { changeCause: 'why', target }), { kind: 'conflict' });
    assert.equal((await readRaw('stale')).metadata.generation, workload.generation);
  });

  test('an image volume is changed alone, and has a record of its own', async () => {
    const workload = await created('volume');
    const before = await readRaw('volume');
    const update = { policy: 'uid', at: '2026-01-01T00:00:00Z', trigger: 'Webhook', from: 'shop/web:1', to: 'shop/web:2' } as const;
    const volume = { container: 'volumes/web', index: 1, list: 'volumes', from: 'shop/web:1', to: 'shop/web:2', update } as const;
    const result = await patchImages(client, workload, [volume], { changeCause: 'why', target });
    const raw = await readRaw('volume');
    assert.deepEqual(result, { kind: 'patched', workload: projectWorkload(target, raw) });
    const changed = projectWorkload(target, raw);
    assert.deepEqual(changed.volumes?.map(withoutTime), [
      { name: 'volumes/web', image: 'shop/web:2', index: 1, imageOwner: 'image-watcher', lastUpdate: update },
    ]);
    assert.equal(changed.containers[0]?.lastUpdate, undefined);
    const reverted = JSON.parse(JSON.stringify(podSpecOf(raw)).replace('shop/web:2', 'shop/web:1')) as object;
    assert.deepEqual(reverted, podSpecOf(before));
    assert.deepEqual(await patchImages(client, changed, [volume], { changeCause: 'why', target }), { kind: 'conflict' });
  });

  test('an init container and a container are changed in one request', async () => {
    const workload = await created('both');
    const migrate = { container: 'migrate', index: 0, list: 'initContainers' as const, from: 'shop/web:1', to: 'shop/web:2' };
    const result = await patchImages(client, workload, [migrate, toWeb('shop/web:2')], { changeCause: 'why', target });
    assert.equal(result.kind, 'patched');
    const changed = projectWorkload(target, await readRaw('both'));
    assert.deepEqual(
      [...changed.containers, ...(changed.initContainers ?? [])].map(({ image }) => image),
      ['shop/web:2', 'proxy:1', 'shop/web:2'],
    );
    assert.equal(changed.generation, workload.generation + 1);
  });
}
