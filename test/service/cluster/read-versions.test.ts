/** Versions of policies, read from a real API server, and how many requests that takes. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { customResourceDefinition } from '../../../src/conversion/definition.ts';
import { createVersionReader } from '../../../src/service/cluster/read-versions.ts';
import { openKubeClient, type KubeClient, type KubeRequest } from '../../../src/service/kube/client.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { waitFor } from '../../harness/wait-for.ts';

let cluster: ControlPlane;
let client: KubeClient;
before(async () => {
  cluster = await borrowControlPlane();
  await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', customResourceDefinition());
  await waitFor('policies to be served', () => cluster.request('GET', '/apis/operator.technomad.dev/v1/imagepolicies'));
  client = await openKubeClient({ kubeconfig: cluster.kubeconfigPath, requestTimeoutMs: 60_000 });
});
after(async () => {
  await client.close();
  await cluster.stop();
});

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Six policies in a namespace of their own, a reader, and the requests that it makes. `refuse`: the requests that fail. */
async function start(t: TestContext, { pageSize, refuse }: { pageSize?: number; refuse?: string } = {}) {
  const namespace = await cluster.namespace('versions');
  const path = `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`;
  const spec = { image: 'harbor.example.com/shop/web', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web' }] };
  const body = (name: string) => ({ apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name }, spec });
  const created = await Promise.all(
    names.map((name) => cluster.request<{ metadata: { resourceVersion: string } }>('POST', path, body(name))),
  );
  const requests: string[] = [];
  const request = t.mock.fn(async <T>(call: KubeRequest): Promise<T> => {
    assert.match(call.accept ?? '', /PartialObjectMetadata/);
    const asked = call.path.slice(path.length + 1) || 'list';
    requests.push(asked);
    if (asked === refuse) throw new Error('no answer');
    return client.request<T>(call);
  });
  const read = createVersionReader({ ...client, request }, pageSize);
  return { namespace, requests, versions: created.map(({ metadata }) => metadata.resourceVersion), read };
}

test('the version of one policy takes one request, and a missing policy has no version', async (t) => {
  const { namespace, requests, versions, read } = await start(t);
  assert.equal(await read(namespace, 'b'), versions[1]);
  assert.equal(await read(namespace, 'missing'), undefined);
  assert.deepEqual(requests, ['b', 'missing']);
});

test('versions that are requested while another is read are read with one list', async (t) => {
  const { namespace, requests, versions, read } = await start(t);
  const first = read(namespace, 'a');
  await waitFor('the first request', () => requests.length === 1);
  const others = [...names.slice(1), 'missing', 'b'].map((name) => read(namespace, name));
  assert.deepEqual(await Promise.all([first, ...others]), [...versions, undefined, versions[1]]);
  assert.deepEqual(requests, ['a', 'list']);
});

test('policies beyond the first page of a namespace are read one by one', async (t) => {
  const { namespace, requests, versions, read } = await start(t, { pageSize: 4 });
  assert.deepEqual(await Promise.all(names.map((name) => read(namespace, name))), versions);
  assert.deepEqual(requests, ['list', 'e', 'f']);
});

test('policies are read one by one where a list of them fails', async (t) => {
  const { namespace, requests, versions, read } = await start(t, { refuse: 'list' });
  assert.deepEqual(await Promise.all([...names.slice(0, 4), 'missing'].map((name) => read(namespace, name))), [
    ...versions.slice(0, 4),
    undefined,
  ]);
  assert.deepEqual(requests, ['list', 'a', 'b', 'c', 'd', 'missing']);
});

test('policies of a namespace that has become empty have no version', async (t) => {
  const { namespace, requests, read } = await start(t);
  await cluster.request('DELETE', `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`);
  assert.deepEqual(
    await Promise.all(names.map((name) => read(namespace, name))),
    names.map(() => undefined),
  );
  assert.deepEqual(requests, ['list']);
});

test('a failure to read one namespace does not affect another one, and is not cached', async (t) => {
  const [one, other] = [await start(t, { refuse: 'a' }), await start(t)];
  await assert.rejects(one.read(one.namespace, 'a'), /no answer/);
  assert.equal(await other.read(other.namespace, 'a'), other.versions[0]);
  await assert.rejects(one.read(one.namespace, 'a'), /no answer/);
  assert.deepEqual(one.requests, ['a', 'a']);
});
