import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { readNamespaceConsent } from '../../../src/service/kube/namespaces.ts';
import { readSecretContent } from '../../../src/service/kube/secrets.ts';
import { createEventRecorder } from '../../../src/service/kube/record-event.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { waitFor } from '../../harness/wait-for.ts';
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

function fail(error: unknown): void {
  throw new Error('an Event was not written', { cause: error });
}

const regarding = () => ({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'web', uid: 'u-1', resourceVersion: '7' });
const event = (message: string) => ({ regarding: regarding(), type: 'Normal', reason: 'Updated', action: 'UpdateImage', message }) as const;

interface CoreEvent {
  readonly message: string;
  readonly reason: string;
  readonly type: string;
  readonly eventTime: string;
  readonly reportingComponent: string;
  readonly involvedObject: object;
  readonly series?: { readonly count: number };
}

// The query of `kubectl describe`.
async function describedEvents(): Promise<CoreEvent[]> {
  const fields = 'involvedObject.name=web,involvedObject.kind=Deployment,involvedObject.uid=u-1';
  const path = `/api/v1/namespaces/${namespace}/events?fieldSelector=${encodeURIComponent(fields)}`;
  return (await controlPlane.request<{ items: CoreEvent[] }>('GET', path)).items;
}

test('kubectl describe and kubectl get events find an Event', async () => {
  const now = new Date('2026-01-02T03:04:05.678Z');
  const recorder = createEventRecorder({ client, component: 'image-watcher', instance: 'pod-1', onError: fail, now: () => now });
  recorder.record(event('web: shop/web:1 → shop/web:2'));
  await recorder.flush(120_000);
  const events = await describedEvents();
  assert.deepEqual(
    events.map(({ message, reason, type, eventTime, reportingComponent, involvedObject }) => ({
      message,
      reason,
      type,
      eventTime,
      reportingComponent,
      involvedObject,
    })),
    [
      {
        message: 'web: shop/web:1 → shop/web:2',
        reason: 'Updated',
        type: 'Normal',
        eventTime: '2026-01-02T03:04:05.678000Z',
        reportingComponent: 'image-watcher',
        involvedObject: regarding(),
      },
    ],
  );
});

test('texts of an Event that are too long are truncated to what the API server accepts', async () => {
  const recorder = createEventRecorder({ client, component: 'image-watcher', instance: 'ö'.repeat(500), onError: fail });
  const long = 'ö'.repeat(3_000);
  recorder.record({
    ...event(long),
    reason: long,
    action: long,
    regarding: { ...regarding(), name: `${'w'.repeat(199)}-${'w'.repeat(53)}`, uid: 'u-2' },
  });
  await recorder.flush(120_000);
  const { items } = await controlPlane.request<{ items: CoreEvent[] }>(
    'GET',
    `/api/v1/namespaces/${namespace}/events?fieldSelector=involvedObject.uid=u-2`,
  );
  assert.equal(Buffer.byteLength(items[0]?.message ?? ''), 1023);
});

test('hundreds of Events are all written', async () => {
  const recorder = createEventRecorder({ client, component: 'image-watcher', instance: 'pod-1', onError: fail });
  for (let i = 0; i < 300; i++) recorder.record({ ...event(`many ${i}`), reason: `Many${i}` });
  await recorder.flush(120_000);
  assert.equal((await describedEvents()).filter(({ reason }) => reason.startsWith('Many')).length, 300);
});

test('Events of the same object and reason that wait for low load are written as one', async () => {
  const lull = { quietMs: 60_000, atMostMs: 60_000 };
  const recorder = createEventRecorder({ client, component: 'image-watcher', instance: 'pod-1', onError: fail, lull });
  for (const version of [2, 3, 4]) recorder.record({ ...event(`from ${version - 1} to ${version}`), reason: 'Burst' });
  recorder.record({ ...event('from 4 to 5'), reason: 'Burst', type: 'Warning' });
  recorder.record({ ...event('x'.repeat(1_000)), reason: 'Long' });
  recorder.record({ ...event('y'.repeat(1_000)), reason: 'Long' });
  await recorder.flush(120_000);
  const described = await describedEvents();
  const of = (wanted: string) => described.filter(({ reason }) => reason === wanted);
  assert.deepEqual(
    of('Burst')
      .map(({ type, message, series }) => [type, message, series?.count])
      .toSorted(([a = ''], [b = '']) => (String(a) < String(b) ? -1 : 1)),
    [
      ['Normal', 'from 1 to 2; from 2 to 3; from 3 to 4', 3],
      ['Warning', 'from 4 to 5', undefined],
    ],
  );
  assert.deepEqual(
    of('Long').map(({ message, series }) => [message, series?.count]),
    [['y'.repeat(1_000), 2]],
  );
});

test('a repeated finding is one Event an hour for each subject and reason, whichever replica finds it', async () => {
  const start = Date.parse('2026-01-02T03:10:00Z');
  let at = start;
  const recorders = ['pod-1', 'pod-2'].map((instance) =>
    createEventRecorder({ client, component: 'image-watcher', instance, onError: fail, now: () => new Date(at) }),
  );
  const find = async (minute: number, uid = 'u-3', reason = 'Retrying') => {
    at = start + minute * 60_000;
    for (const recorder of recorders) {
      recorder.record({ ...event(`at ${minute}`), reason, regarding: { ...regarding(), uid }, atMostHourly: true });
      // One after the other, so that the first is known to win.
      await recorder.flush(120_000);
    }
  };
  for (const minute of [0, 5, 49, 51, 59, 60, 119, 121]) await find(minute);
  await find(122, 'u-4');
  await find(122, 'u-3', 'RegistryUnavailable');
  const { items } = await controlPlane.request<{ items: (CoreEvent & { involvedObject: { uid: string } })[] }>(
    'GET',
    `/api/v1/namespaces/${namespace}/events`,
  );
  const found = items
    .filter(({ message }) => message.startsWith('at '))
    .map(({ message, reason, involvedObject: { uid } }) => `${uid} ${reason} ${message}`);
  assert.deepEqual(found.sort(), [
    'u-3 RegistryUnavailable at 122',
    'u-3 Retrying at 0',
    'u-3 Retrying at 121',
    'u-3 Retrying at 60',
    'u-4 Retrying at 122',
  ]);
});

test('an Event is retried once, and then reported and dropped', async (context) => {
  const server = await startFakeApiServer();
  context.after(() => server.stop());
  const errors: unknown[] = [];
  const recorder = createEventRecorder({
    client: server.client(),
    component: 'image-watcher',
    instance: 'pod-1',
    onError: (error) => errors.push(error),
  });
  server.handle((exchange) => exchange.json(server.exchanges.length === 1 ? 500 : 201, {}));
  recorder.record(event('second try'));
  await recorder.flush(120_000);
  assert.equal(errors.length, 0);
  const names = server.exchanges.map(({ body }) => (JSON.parse(body) as { metadata: { name: string } }).metadata.name);
  assert.equal(names.length, 2);
  assert.equal(names[0], names[1]);
  server.handle((exchange) => exchange.json(500, {}));
  recorder.record(event('never'));
  await recorder.flush(120_000);
  assert.deepEqual([errors.length, server.exchanges.length], [1, 4]);
  // A first try that had arrived although its answer got lost.
  server.handle((exchange) => exchange.json(409, {}));
  recorder.record(event('already there'));
  await recorder.flush(120_000);
  assert.deepEqual([errors.length, server.exchanges.length], [1, 5]);
});

test('the queue of Events is bounded, drops the oldest, and flush keeps its deadline', async (context) => {
  const server = await startFakeApiServer();
  context.after(() => server.stop());
  server.handle(() => undefined);
  const errors: unknown[] = [];
  const recorder = createEventRecorder({
    client: server.client(),
    component: 'image-watcher',
    instance: 'pod-1',
    onError: (error) => errors.push(error),
  });
  for (let i = 0; i < 5_104; i++) recorder.record({ ...event(`${i}`), action: `Update${i}` });
  await recorder.flush(50);
  assert.equal(errors.length, 100);
  assert.match(String(errors[0]), /more than 5000 Events are queued: the oldest is dropped/);
});

test('Events wait until the load decreases, but not for ever and not at shutdown', async (context) => {
  const server = await startFakeApiServer();
  context.after(() => server.stop());
  server.handle((exchange) => exchange.json(201, {}));
  const never = 3_600_000;
  const common = { client: server.client(), component: 'image-watcher', instance: 'pod-1', onError: fail };
  const busy = createEventRecorder({ ...common, lull: { quietMs: never, atMostMs: never } });
  for (let i = 0; i < 10; i++) busy.record({ ...event(`${i}`), action: `Update${i}` });
  assert.equal(server.exchanges.length, 0);
  await busy.flush(120_000);
  assert.equal(server.exchanges.length, 10);
  for (const lull of [
    { quietMs: never, atMostMs: 1 },
    { quietMs: 1, atMostMs: never },
  ]) {
    const before = server.exchanges.length;
    createEventRecorder({ ...common, lull }).record(event('later'));
    await waitFor('the Event', () => server.exchanges.length > before);
  }
});

test('the data of a Secret is read as stored', async () => {
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  await controlPlane.request('POST', path, { metadata: { name: 'creds' }, stringData: { '.dockerconfigjson': '{}' } });
  await controlPlane.request('POST', path, { metadata: { name: 'empty' } });
  const dataOf = async (name: string) => {
    const read = await readSecretContent(client, { namespace, name });
    return 'data' in read ? read.data : read.why;
  };
  assert.deepEqual(await dataOf('creds'), { '.dockerconfigjson': Buffer.from('{}').toString('base64') });
  assert.deepEqual(await dataOf('empty'), {});
  assert.equal(await dataOf('missing'), 'does not exist');
  assert.equal(await dataOf('../other'), '"../other" cannot be the name of a Kubernetes object');
});

/** A client that may do nothing. */
async function nobody(context: TestContext): Promise<KubeClient> {
  const ca = { 'certificate-authority-data': Buffer.from(controlPlane.caPem).toString('base64') };
  const anonymous = await openKubeClient({
    kubeconfig: writeKubeconfig(controlPlane.server, { as: 'nobody', token: controlPlane.token }, ca),
    requestTimeoutMs: 60_000,
  });
  context.after(() => anonymous.close());
  return anonymous;
}

test('an error for a forbidden Secret names the missing permission', async (context) => {
  const read = await readSecretContent(await nobody(context), { namespace, name: 'creds' });
  assert.deepEqual(read, { why: `may not be read: grant image-watcher the verb "get" on "secrets" in namespace ${namespace}` });
});

test('the consent of a Namespace is read from its annotation', async () => {
  const read = await readNamespaceConsent(client, namespace);
  assert.deepEqual([read?.namespace, read?.name, read?.allowPoliciesFrom], ['', namespace, null]);
  const annotations = { 'operator.technomad.dev/allow-policies-from': 'shop,ops' };
  await controlPlane.request('PATCH', `/api/v1/namespaces/${namespace}`, { metadata: { annotations } });
  assert.equal((await readNamespaceConsent(client, namespace))?.allowPoliciesFrom, 'shop,ops');
  assert.equal(await readNamespaceConsent(client, 'missing'), undefined);
});

test('a forbidden Namespace gives no consent, and the missing permission is named', async (context) => {
  await assert.rejects(readNamespaceConsent(await nobody(context), namespace), {
    name: 'PermanentError',
    reason: 'NoConsent',
    message: /grant image-watcher the verb "get" on "namespaces"/,
  });
});
