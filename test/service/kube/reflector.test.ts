import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { isKubeError } from '../../../src/service/kube/kube-error.ts';
import { createObjectStore, type ObjectStore, type StoredObject } from '../../../src/service/kube/object-store.ts';
import { type Reflector, startReflector } from '../../../src/service/kube/reflector.ts';
import { type OwnControlPlane, startControlPlane } from '../../harness/control-plane.ts';
import { waitFor } from '../../harness/wait-for.ts';

let controlPlane: OwnControlPlane;
let client: KubeClient;
before(async () => {
  controlPlane = await startControlPlane({ fsync: false });
  client = await openKubeClient({ kubeconfig: controlPlane.kubeconfigPath, requestTimeoutMs: 60_000 });
});
after(async () => {
  await client.close();
  await controlPlane.stop();
});

interface ConfigMap extends StoredObject {
  readonly value: string;
}

// The pause that is running when the server is back, and another one after 410: each up to 30 s.
const patience = { timeoutMs: 120_000 };

function project(raw: unknown): ConfigMap | undefined {
  const { metadata, data } = raw as { metadata: StoredObject; data?: { value?: string } };
  const { namespace, name, uid, resourceVersion } = metadata;
  return { namespace, name, uid, resourceVersion, value: data?.value ?? '' };
}

const pathOf = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
const create = (namespace: string, name: string, value: string) =>
  controlPlane.request('POST', pathOf(namespace), { metadata: { name }, data: { value } });
const change = (namespace: string, name: string, value: string) =>
  controlPlane.request('PATCH', `${pathOf(namespace)}/${name}`, { data: { value } });

interface Watched {
  readonly reflector: Reflector;
  readonly store: ObjectStore<ConfigMap>;
  readonly changes: string[];
  readonly requests: string[];
  readonly errors: unknown[];
  content(): string;
  /** Ends the watch and lets none begin until the returned function is called. */
  cut(): () => void;
}

async function watch(context: TestContext, path: string, store = createObjectStore<ConfigMap>()): Promise<Watched> {
  const changes: string[] = [];
  const requests: string[] = [];
  const errors: unknown[] = [];
  store.subscribe(({ type, object }) => changes.push(`${type} ${object.name}=${object.value}`));
  let cable = new AbortController();
  const counted: KubeClient = {
    ...client,
    request: (request) => {
      requests.push(`list ${request.query?.['continue'] === undefined ? 'first' : 'next'}`);
      return client.request(request);
    },
    async *streamLines(request) {
      if (cable.signal.aborted) throw new Error('the cable is cut');
      requests.push('watch');
      yield* client.streamLines({ ...request, signal: AbortSignal.any([cable.signal, ...(request.signal ? [request.signal] : [])]) });
    },
  };
  const onError = (error: unknown) => void errors.push(error);
  const reflector = startReflector({ client: counted, path, project, store, onError });
  context.after(() => reflector.stop());
  await reflector.synced;
  const content = () =>
    [...store.values()]
      .map(({ name, value }) => `${name}=${value}`)
      .toSorted((a, b) => a.localeCompare(b))
      .join(' ');
  const cut = () => {
    cable.abort();
    return () => void (cable = new AbortController());
  };
  return { reflector, store, changes, requests, errors, content, cut };
}

test('1,200 objects are listed in three pages', async (context) => {
  const namespace = await controlPlane.namespace();
  const names = Array.from({ length: 1_200 }, (_, i) => `map-${i}`);
  for (let i = 0; i < names.length; i += 50) await Promise.all(names.slice(i, i + 50).map((name) => create(namespace, name, 'x')));
  const { store, requests, reflector } = await watch(context, pathOf(namespace));
  await waitFor('the watch', () => reflector.state().connected);
  assert.equal(store.size, 1_200);
  assert.deepEqual(requests, ['list first', 'list next', 'list next', 'watch']);
});

test('additions, updates, deletions and recreations are observed', async (context) => {
  const namespace = await controlPlane.namespace();
  await create(namespace, 'a', '1');
  const { changes, reflector } = await watch(context, pathOf(namespace));
  await create(namespace, 'b', '1');
  await change(namespace, 'a', '2');
  await controlPlane.request('DELETE', `${pathOf(namespace)}/b`);
  await create(namespace, 'b', '2');
  await waitFor('all changes', () => changes.length >= 5);
  assert.deepEqual(changes, ['added a=1', 'added b=1', 'updated a=2', 'deleted b=1', 'added b=2']);
  assert.equal(reflector.state().lastError, undefined);
});

test('one store can be filled by a reflector for each namespace', async (context) => {
  const [firstNamespace, secondNamespace] = [await controlPlane.namespace(), await controlPlane.namespace()];
  await Promise.all([create(firstNamespace, 'a', '1'), create(secondNamespace, 'b', '1')]);
  const store = createObjectStore<ConfigMap>();
  await watch(context, pathOf(firstNamespace), store);
  const { content } = await watch(context, pathOf(secondNamespace), store);
  assert.equal(content(), 'a=1 b=1');
  assert.equal(store.get(secondNamespace, 'b')?.value, '1');
});

test('our own write is visible in the store immediately, and its watch event is not another change', async (context) => {
  const namespace = await controlPlane.namespace();
  await create(namespace, 'a', '1');
  const { store, changes } = await watch(context, pathOf(namespace));
  const written = project(await change(namespace, 'a', '2'));
  assert.ok(written);
  store.observe(written);
  assert.equal(store.get(namespace, 'a')?.value, '2');
  await create(namespace, 'later', '1');
  await waitFor('what came after the echo', () => store.get(namespace, 'later'));
  assert.deepEqual(changes, ['added a=1', 'updated a=2', 'added later=1']);
});

test('after kill -9 of the API server the watch resumes, and receives the changes of the outage', async (context) => {
  const namespace = await controlPlane.namespace();
  await Promise.all([create(namespace, 'a', '1'), create(namespace, 'b', '1')]);
  const { content, changes, errors, reflector } = await watch(context, pathOf(namespace));
  await controlPlane.apiServer.kill9();
  await waitFor('the loss to be noticed', () => !reflector.state().connected && reflector.state().lastError);
  await controlPlane.apiServer.restart();
  await Promise.all([change(namespace, 'a', '2'), controlPlane.request('DELETE', `${pathOf(namespace)}/b`), create(namespace, 'c', '1')]);
  await waitFor('all changes', () => content() === 'a=2 c=1' && reflector.state().connected, patience);
  assert.deepEqual(changes.toSorted(), ['added a=1', 'added b=1', 'added c=1', 'deleted b=1', 'updated a=2']);
  assert.ok(errors.length > 0);
  assert.equal(reflector.state().lastError, undefined);
});

test('changes during an outage are found by a new list after 410, and only these changes are reported', async (context) => {
  const namespace = await controlPlane.namespace();
  await Promise.all([create(namespace, 'same', '1'), create(namespace, 'a', '1'), create(namespace, 'b', '1')]);
  const { content, changes, errors, requests, reflector, cut } = await watch(context, pathOf(namespace));
  await waitFor('the watch', () => reflector.state().connected);
  const repair = cut();
  await Promise.all([change(namespace, 'a', '2'), controlPlane.request('DELETE', `${pathOf(namespace)}/b`)]);
  await compact();
  // The API server remembers the last events in its own memory, too.
  await controlPlane.apiServer.restart();
  repair();
  await waitFor('all changes', () => content() === 'a=2 same=1' && reflector.state().connected, patience);
  assert.deepEqual(changes.toSorted(), ['added a=1', 'added b=1', 'added same=1', 'deleted b=1', 'updated a=2']);
  assert.ok(errors.some((error) => isKubeError(error, 410)));
  assert.equal(requests.filter((request) => request === 'list first').length, 2);
});

async function compact(): Promise<void> {
  const [port] = controlPlane.etcd.ports;
  const post = async (path: string, body: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}/v3${path}`, { method: 'POST', body: JSON.stringify(body) });
    return (await answer.json()) as { header?: { revision?: string } };
  };
  const { header } = await post('/kv/range', { key: 'YQ==' });
  await post('/kv/compaction', { revision: header?.revision, physical: true });
}
