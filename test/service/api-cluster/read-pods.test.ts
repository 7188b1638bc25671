/** Pods and logs are read with the token of the caller alone. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { AccessError } from '../../../src/service/api/access.ts';
import { createReadPods } from '../../../src/service/api-cluster/read-pods.ts';
import { type Exchange, startFakeApiServer } from '../kube/fake-api-server.ts';

const workload = { kind: 'StatefulSet', namespace: 'shop', name: 'web' };
const caller = { kind: 'token', token: 'anns-token' } as const;
const crashed = {
  metadata: { name: 'web-0', creationTimestamp: '2026-03-01T11:00:00Z' },
  status: {
    containerStatuses: [
      {
        name: 'web',
        ready: false,
        restartCount: 4,
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off\u202E' } },
        lastState: { terminated: { reason: 'Error', exitCode: 2 } },
      },
      { name: 'proxy', ready: true, restartCount: 0, state: { running: {} } },
      { name: 'pulls', ready: false, restartCount: 0, state: { waiting: { reason: 'ImagePullBackOff' } } },
    ],
  },
};

/** A reader before a server with a StatefulSet of one pod; `answer` may refuse what is requested. */
async function start(t: TestContext, answer: (exchange: Exchange) => boolean = () => false) {
  const server = await startFakeApiServer({ user: { token: 'token-of-the-service' } });
  t.after(() => server.stop());
  server.handle((exchange) => {
    const { path, response, json } = exchange;
    if (answer(exchange)) return;
    if (path.endsWith('/log')) response.writeHead(200, { 'content-type': 'text/plain' }).end('panic: <b>\u001B[0m\n');
    else if (path.endsWith('/pods')) json(200, { items: [crashed] });
    else json(200, { metadata: { uid: 'u' }, spec: { selector: { matchLabels: { app: 'web' } } }, status: { updateRevision: 'web-2' } });
  });
  let now = 0;
  const read = createReadPods({ users: server.client({ kind: 'users' }), own: server.client() }, () => now);
  return { read, server, later: (ms: number) => (now += ms) };
}

test('pods that are not ready are reported, with the logs of their containers that were started', async (t) => {
  const { read, server } = await start(t);
  assert.deepEqual(await read(caller, workload), [
    {
      name: 'web-0',
      startedAt: '2026-03-01T11:00:00Z',
      containers: [
        {
          name: 'web',
          ready: false,
          restarts: 4,
          reason: 'CrashLoopBackOff',
          message: 'back-off',
          exitCode: 2,
          log: ['panic: <b>'],
        },
        { name: 'pulls', ready: false, restarts: 0, reason: 'ImagePullBackOff' },
      ],
    },
  ]);
  assert.deepEqual(new Set(server.exchanges.map(({ headers }) => headers.authorization)), new Set(['Bearer anns-token']));
});

test('a caller who may not read logs sees why pods are not ready, and why there is no log', async (t) => {
  const { read } = await start(t, ({ path, json }) => {
    if (!path.endsWith('/log')) return false;
    json(403, { message: 'pods "web-0" is forbidden: User "ann" cannot get resource "pods/log"' });
    return true;
  });
  const [pod] = await read(caller, workload);
  assert.match(pod?.containers[0]?.noLog ?? '', /cannot get resource "pods\/log"/);
  assert.equal(pod?.containers[0]?.reason, 'CrashLoopBackOff');
});

test('a caller who may not read pods is refused, and so is one without a token', async (t) => {
  const { read, server } = await start(t, ({ path, json }) => {
    if (!path.endsWith('/pods')) return false;
    json(403, { message: 'pods is forbidden' });
    return true;
  });
  await assert.rejects(read(caller, workload), (error) => error instanceof AccessError && error.status === 403);
  const before = server.exchanges.length;
  await assert.rejects(read({ kind: 'proxy' }, workload), (error) => error instanceof AccessError && error.status === 403);
  assert.equal(server.exchanges.length, before);
});

test('what was read of pods is shared for three seconds, and only with callers of the same token', async (t) => {
  const { read, server, later } = await start(t);
  await read(caller, workload);
  const once = server.exchanges.length;
  await read(caller, workload);
  assert.equal(server.exchanges.length, once);
  await read({ kind: 'token', token: 'bobs-token' }, workload);
  assert.equal(server.exchanges.length, 2 * once);
  later(3_001);
  await read(caller, workload);
  assert.equal(server.exchanges.length, 3 * once);
});
