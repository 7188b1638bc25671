import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyCustomResourceDefinition } from '../../../src/service/kube/crd/apply-crd.ts';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import type { CustomResourceDefinition } from '../../../src/service/kube/crd/definition.ts';
import { patchStatus, type StatusPatch } from '../../../src/service/kube/patch-status.ts';
import { type ControlPlane, borrowControlPlane } from '../../harness/control-plane.ts';
import { waitFor } from '../../harness/wait-for.ts';

let controlPlane: ControlPlane;
let client: KubeClient;
let namespace: string;
before(async () => {
  controlPlane = await borrowControlPlane();
  client = await openKubeClient({ kubeconfig: controlPlane.kubeconfigPath, requestTimeoutMs: 60_000 });
  namespace = await controlPlane.namespace();
});
after(async () => {
  await client.close();
  await controlPlane.stop();
});

function crd(plural: string, versions: readonly string[] = ['v1'], subresources: object = { status: {} }): CustomResourceDefinition {
  const kind = `${plural.slice(0, 1).toUpperCase()}${plural.slice(1, -1)}`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const manifest = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: versions.map((name, i) => ({ name, served: true, storage: i === versions.length - 1, schema, subresources })),
    },
  };
  return manifest;
}

const crdPath = (plural: string) => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.example.com`;

test('a definition is created and served, then unchanged, then updated', async () => {
  const progress: string[] = [];
  const onProgress = (message: string) => void progress.push(message);
  assert.deepEqual(await applyCustomResourceDefinition(client, crd('gears'), { onProgress }), { action: 'created' });
  assert.deepEqual(progress, [
    'CustomResourceDefinition gears.example.com: created',
    'CustomResourceDefinition gears.example.com: established',
  ]);
  // An API server under load may not be ready to list what it serves: 429, "storage is (re)initializing".
  await waitFor('the list', () => client.request({ method: 'GET', path: `/apis/example.com/v1/namespaces/${namespace}/gears` }));
  assert.deepEqual(await applyCustomResourceDefinition(client, crd('gears')), { action: 'unchanged' });
  assert.deepEqual(await applyCustomResourceDefinition(client, crd('gears', ['v1', 'v2'])), { action: 'updated' });
  await waitFor('the new version', () => client.request({ method: 'GET', path: `/apis/example.com/v2/namespaces/${namespace}/gears` }));
});

test('foreign labels and annotations of a definition survive, and do not count as a difference', async () => {
  await applyCustomResourceDefinition(client, crd('levers'));
  await controlPlane.request('PATCH', crdPath('levers'), { metadata: { labels: { theirs: 'yes' } } });
  assert.deepEqual(await applyCustomResourceDefinition(client, crd('levers')), { action: 'unchanged' });
  const { metadata } = await controlPlane.request<CustomResourceDefinition>('GET', crdPath('levers'));
  assert.deepEqual(metadata.labels, { theirs: 'yes' });
});

test('simultaneous writers of the same definition all succeed', async () => {
  const results = await Promise.all(Array.from({ length: 5 }, () => applyCustomResourceDefinition(client, crd('wheels'))));
  assert.deepEqual(results.map(({ action }) => action).toSorted(), ['created', 'unchanged', 'unchanged', 'unchanged', 'unchanged']);
});

test('a stored version of a definition is not dropped', async () => {
  await applyCustomResourceDefinition(client, crd('springs', ['v1alpha1', 'v1']));
  await applyCustomResourceDefinition(client, crd('springs', ['v1', 'v1alpha1']));
  await assert.rejects(applyCustomResourceDefinition(client, crd('springs', ['v2'])), /still has objects stored as v1, v1alpha1/);
});

test('a conflict with the names of another definition is reported at once', async () => {
  await applyCustomResourceDefinition(client, crd('bolts'));
  const manifest = crd('nuts');
  const clash = { ...manifest, spec: { ...manifest.spec, names: { plural: 'nuts', kind: 'Bolt' } } };
  await assert.rejects(
    applyCustomResourceDefinition(client, clash),
    /names of the CustomResourceDefinition nuts.example.com are not accepted: "Bolt/,
  );
});

interface Status {
  count?: number;
  message?: string;
  latest?: { tag: string; digest?: string };
  history?: number[];
}
type Thing = { metadata: { resourceVersion: string; uid: string; name: string }; status?: Status };

const collectionPath = () => `/apis/example.com/v1/namespaces/${namespace}/things`;
const pathOf = (name: string) => `${collectionPath()}/${name}`;
const read = (name: string) => controlPlane.request<Thing>('GET', pathOf(name));
const overwrite = (name: string, status: object) => controlPlane.request<Thing>('PATCH', `${pathOf(name)}/status`, { status });

async function create(name: string, status?: Status): Promise<{ resourceVersion: string; uid: string; status: Status | undefined }> {
  await applyCustomResourceDefinition(client, crd('things'));
  let created = await controlPlane.request<Thing>('POST', collectionPath(), {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name },
  });
  if (status) created = await overwrite(name, status);
  return { resourceVersion: created.metadata.resourceVersion, uid: created.metadata.uid, status: created.status };
}

type ThingPatch = Omit<StatusPatch, 'update'> & { readonly update: (status: Status) => Status | undefined };
const patchThing = ({ update, ...rest }: ThingPatch) => patchStatus({ ...rest, update: (status) => update(status as Status) });

test('a status is written to an object without one', async () => {
  const current = await create('fresh');
  const written = await patchThing({ client, path: pathOf('fresh'), current, update: () => ({ count: 1, message: 'hello' }) });
  assert.deepEqual((written as Thing).status, { count: 1, message: 'hello' });
  assert.deepEqual(written, await read('fresh'));
});

test('fields that an update of a status removes are removed from the object, even nested ones', async () => {
  const current = await create('smaller', { count: 1, message: 'old', latest: { tag: '1', digest: 'sha256:a' }, history: [1, 2] });
  await patchThing({
    client,
    path: pathOf('smaller'),
    current,
    update: ({ count = 0 }) => ({ count, latest: { tag: '2' }, history: [2] }),
  });
  assert.deepEqual((await read('smaller')).status, { count: 1, latest: { tag: '2' }, history: [2] });
});

const nothing = [
  { name: 'undefined', update: () => undefined },
  { name: 'an equal status', update: () => ({ latest: { tag: '1' }, count: 1 }) },
];

for (const { name, update } of nothing) {
  test(`an update of a status to ${name} writes nothing`, async () => {
    const object = name.replaceAll(' ', '-');
    const current = await create(object, { count: 1, latest: { tag: '1' } });
    assert.equal(await patchThing({ client, path: pathOf(object), current, update }), undefined);
    assert.equal((await read(object)).metadata.resourceVersion, current.resourceVersion);
  });
}

test('after a conflict the update of a status is repeated on the new object', async () => {
  const current = await create('contended', { count: 1 });
  await overwrite('contended', { count: 10, message: 'theirs' });
  const seen: (number | undefined)[] = [];
  const update = (status: Status) => {
    seen.push(status.count);
    return { ...status, count: (status.count ?? 0) + 1 };
  };
  await patchThing({ client, path: pathOf('contended'), current, update });
  assert.deepEqual(seen, [1, 10]);
  assert.deepEqual((await read('contended')).status, { count: 11, message: 'theirs' });
});

test('no write is needed after a conflict with a writer of the same status', async () => {
  const current = await create('agreed', { count: 1 });
  const theirs = await overwrite('agreed', { count: 2 });
  const result = await patchThing({ client, path: pathOf('agreed'), current, update: (status) => ({ ...status, count: 2 }) });
  assert.deepEqual(result, theirs);
});

test('concurrent updates of a status are all kept', async () => {
  const current = await create('counted', { count: 0 });
  const increment = () =>
    patchThing({ client, path: pathOf('counted'), current, update: (status) => ({ ...status, count: (status.count ?? 0) + 1 }) });
  await Promise.all([increment(), increment(), increment(), increment()]);
  assert.deepEqual((await read('counted')).status, { count: 4 });
});

test('the update of a status gives up after twenty conflicts', async () => {
  const current = await create('hopeless', { count: 0 });
  let tries = 0;
  const contended: KubeClient = {
    ...client,
    async request<T>(request: Parameters<KubeClient['request']>[0]): Promise<T> {
      if (request.method === 'PATCH') await overwrite('hopeless', { message: `${(tries += 1)}` });
      return client.request<T>(request);
    },
  };
  const patching = patchThing({
    client: contended,
    path: pathOf('hopeless'),
    current,
    update: (status) => ({ ...status, count: 1 }),
  });
  await assert.rejects(patching, { name: 'KubeError', status: 409 });
  assert.equal(tries, 20);
});

test('the status of a deleted object is not written', async () => {
  const current = await create('deleted', { count: 1 });
  await controlPlane.request('DELETE', pathOf('deleted'));
  assert.equal(await patchThing({ client, path: pathOf('deleted'), current, update: () => ({ count: 2 }) }), undefined);
});

test('the status of another object with the same name is not changed', async () => {
  const current = await create('recreated', { count: 1 });
  await controlPlane.request('DELETE', pathOf('recreated'));
  await create('recreated', { count: 5 });
  assert.equal(await patchThing({ client, path: pathOf('recreated'), current, update: () => ({ count: 2 }) }), undefined);
  assert.deepEqual((await read('recreated')).status, { count: 5 });
});

test('a status update of a kind without the status subresource is an error, not taken for a deleted object', async () => {
  await applyCustomResourceDefinition(client, crd('olds', ['v1'], {}));
  const path = `/apis/example.com/v1/namespaces/${namespace}/olds`;
  const { metadata } = await controlPlane.request<Thing>('POST', path, {
    apiVersion: 'example.com/v1',
    kind: 'Old',
    metadata: { name: 'old' },
  });
  const current = { resourceVersion: metadata.resourceVersion, status: undefined };
  await assert.rejects(patchThing({ client, path: `${path}/old`, current, update: () => ({ count: 1 }) }), {
    name: 'KubeError',
    status: 404,
  });
});
