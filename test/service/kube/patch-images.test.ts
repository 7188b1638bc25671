import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { consentAnnotation } from '../../../src/core/model/consent-annotation.ts';
import { PermanentError } from '../../../src/core/model/errors.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { patchImages } from '../../../src/service/kube/patch-images.ts';
import { readWorkload } from '../../../src/service/kube/read-workload.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { startFakeApiServer, writeKubeconfig } from './fake-api-server.ts';

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

const changeCause = 'kubernetes.io/change-cause';
const collection = () => `/apis/apps/v1/namespaces/${namespace}/deployments`;
const toWeb = (to: string, from = 'shop/web:1') => ({ container: 'web', index: 0, from, to });
const toProxy = (to: string, from = 'proxy:1') => ({ container: 'proxy', index: 1, from, to });

async function create(name: string, annotations?: Record<string, string>): Promise<Workload> {
  const containers = [
    { name: 'web', image: 'shop/web:1' },
    { name: 'proxy', image: 'proxy:1' },
  ];
  const spec = { selector: { matchLabels: { app: name } }, template: { metadata: { labels: { app: name } }, spec: { containers } } };
  await controlPlane.request('POST', collection(), { metadata: { name, ...(annotations && { annotations }) }, spec });
  return read(name);
}

async function read(name: string): Promise<Workload> {
  const workload = await readWorkload(client, { kind: 'Deployment', namespace, name });
  assert.ok(workload);
  return workload;
}

async function annotationsOf(name: string): Promise<Record<string, string> | undefined> {
  const { metadata } = await controlPlane.request<{ metadata: { annotations?: Record<string, string> } }>('GET', `${collection()}/${name}`);
  return metadata.annotations;
}

const imagesOf = (workload: Workload) => workload.containers.map(({ image }) => image);

test('two containers of a workload are changed in one request', async () => {
  const workload = await create('two');
  const result = await patchImages(client, workload, [toWeb('shop/web:2'), toProxy('proxy:2')], { changeCause: 'why' });
  assert.equal(result.kind, 'patched');
  const now = await read('two');
  assert.deepEqual(imagesOf(now), ['shop/web:2', 'proxy:2']);
  assert.equal(now.generation, workload.generation + 1);
});

test('one container that is not as planned prevents the change of all containers', async () => {
  const workload = await create('half');
  assert.deepEqual(await patchImages(client, workload, [toWeb('shop/web:2'), toProxy('proxy:2', 'proxy:0')], { changeCause: 'why' }), {
    kind: 'conflict',
  });
  assert.deepEqual(await read('half'), workload);
});

test('a patch keeps foreign annotations of the workload', async () => {
  const workload = await create('annotated', { 'example.com/a.b': 'theirs', [changeCause]: 'older' });
  await patchImages(client, workload, [toWeb('shop/web:2')], { changeCause: 'newer' });
  assert.deepEqual(await annotationsOf('annotated'), { 'example.com/a.b': 'theirs', [changeCause]: 'newer' });
});

test('a patch that is applied a second time is a conflict, so that nothing is applied twice', async () => {
  const workload = await create('twice', { a: 'b' });
  const change = [toWeb('shop/web:2')];
  assert.equal((await patchImages(client, workload, change, { changeCause: 'why' })).kind, 'patched');
  assert.deepEqual(await patchImages(client, workload, change, { changeCause: 'why' }), { kind: 'conflict' });
});

test('exactly one of fifty simultaneous patches of a workload succeeds', async () => {
  const workload = await create('raced');
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, i) => patchImages(client, workload, [toWeb(`shop/web:2-${i}`)], { changeCause: `${i}` })),
  );
  assert.equal(results.filter(({ kind }) => kind === 'patched').length, 1);
  assert.equal((await read('raced')).generation, workload.generation + 1);
});

const annotate = (name: string, annotations: Record<string, string | null>) =>
  controlPlane.request('PATCH', `${collection()}/${name}`, { metadata: { annotations } });

const conflicts: { name: string; prepare: (name: string) => Promise<unknown>; annotations?: Record<string, string>; index?: number }[] = [
  {
    name: 'annotations-came',
    prepare: (name) => annotate(name, { a: 'b' }),
  },
  {
    name: 'annotations-went',
    annotations: { a: 'b' },
    prepare: (name) => annotate(name, { a: null }),
  },
  {
    name: 'consent-withdrawn',
    annotations: { [consentAnnotation]: 'shop' },
    prepare: (name) => annotate(name, { [consentAnnotation]: null }),
  },
  {
    name: 'consent-changed',
    annotations: { [consentAnnotation]: 'shop' },
    prepare: (name) => annotate(name, { [consentAnnotation]: 'ops' }),
  },
  { name: 'consent-denied', annotations: { a: 'b' }, prepare: (name) => annotate(name, { [consentAnnotation]: 'nobody' }) },
  { name: 'container-elsewhere', prepare: async () => undefined, index: 1 },
  { name: 'container-gone', prepare: async () => undefined, index: 7 },
  { name: 'deleted', prepare: (name) => controlPlane.request('DELETE', `${collection()}/${name}`) },
];

for (const { name, prepare, annotations, index = 0 } of conflicts) {
  test(`a patch is a conflict in the case "${name}"`, async () => {
    const workload = await create(name, annotations);
    await prepare(name);
    const before = await annotationsOf(name).catch(() => 'none');
    assert.deepEqual(await patchImages(client, workload, [{ ...toWeb('shop/web:2'), index }], { changeCause: 'why' }), {
      kind: 'conflict',
    });
    assert.deepEqual(await annotationsOf(name).catch(() => 'none'), before);
  });
}

function isRejection(...parts: readonly string[]): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof PermanentError);
    assert.equal(error.reason, 'PatchRejected');
    for (const part of parts) assert.ok(error.message.includes(part), error.message);
    return true;
  };
}

test('a patch with a value that the API server rejects is a permanent error', async () => {
  const workload = await create('refused');
  const refusal = isRejection(`Deployment ${namespace}/refused: the API server refuses the change`, 'containers[0].image: Required value');
  await assert.rejects(patchImages(client, workload, [toWeb('')], { changeCause: 'why' }), refusal);
});

test('a patch without permission is a permanent error that names the permission', async (context) => {
  const workload = await create('forbidden');
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await controlPlane.request('POST', account, { metadata: { name: 'nobody' } });
  const { status } = await controlPlane.request<{ status: { token: string } }>('POST', `${account}/nobody/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  });
  const ca = { 'certificate-authority-data': Buffer.from(controlPlane.caPem).toString('base64') };
  const nobody = await openKubeClient({
    kubeconfig: writeKubeconfig(controlPlane.server, { token: status.token }, ca),
    requestTimeoutMs: 60_000,
  });
  context.after(() => nobody.close());
  const refusal = isRejection(
    'grant image-watcher the verb "patch" on "deployments"',
    'cannot patch resource "deployments" in API group "apps"',
  );
  await assert.rejects(patchImages(nobody, workload, [toWeb('shop/web:2')], { changeCause: 'why' }), refusal);
});

test('a denial by an admission policy is permanent, and is not taken for a missing permission', async (context) => {
  const message = 'admission webhook "images.example.com" denied the request: unsigned';
  const refusal = isRejection("refused by the cluster's policies", message);
  await assert.rejects(patchOnFake(context, 403, { reason: 'Forbidden', message }), refusal);
});

for (const status of [401, 409, 429, 500, 503]) {
  test(`a patch that is answered with status ${status} can be retried`, async (context) => {
    const patching = patchOnFake(context, status, { message: 'later' });
    if (status === 409) assert.deepEqual(await patching, { kind: 'conflict' });
    else await assert.rejects(patching, { name: 'KubeError', status, retryAfterMs: 3_000 });
  });
}

async function patchOnFake(context: TestContext, status: number, body: object): ReturnType<typeof patchImages> {
  const server = await startFakeApiServer();
  context.after(() => server.stop());
  server.handle((exchange) => exchange.json(status, body, { 'retry-after': '3' }));
  const workload = {
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    containersPath: '/spec/template/spec/containers',
    hasAnnotations: true,
  };
  return patchImages(server.client(), workload as Workload, [toWeb('shop/web:2')], { changeCause: 'why' });
}
