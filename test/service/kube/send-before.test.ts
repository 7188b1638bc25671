import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotSentError } from '../../../src/service/kube/send-before.ts';
import { retryTransient } from '../../../src/service/kube/retry.ts';
import { startFakeApiServer } from './fake-api-server.ts';

test('a request past its deadline does not reach the server, and its retry gets a new deadline', async () => {
  const server = await startFakeApiServer();
  server.handle(({ json }) => json(200, { done: true }));
  const client = server.client();
  const send = (sendBefore: number) => client.request({ method: 'PATCH', path: '/x', body: [], sendBefore });
  await assert.rejects(send(performance.now() - 1), NotSentError);
  assert.equal(server.exchanges.length, 0);
  const times = [performance.now() - 1, performance.now() + 60_000];
  const options = { signal: new AbortController().signal, random: () => 1, now: () => 1_000 };
  assert.deepEqual(await retryTransient(() => send(times.shift() ?? 0), options), { done: true });
  assert.deepEqual([server.exchanges.length, times.length], [1, 0]);
  await server.stop();
});

test('a request that waits for a connection until its deadline is not sent', async () => {
  const server = await startFakeApiServer();
  const client = server.client({ requestTimeoutMs: 60_000 });
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  server.handle(({ json }) => void held.then(() => json(200, {})));
  const busy = Array.from({ length: 32 }, () => client.request({ method: 'GET', path: '/busy' }));
  const late = client.request({ method: 'PATCH', path: '/late', body: [], sendBefore: performance.now() + 1 });
  const outcome = assert.rejects(late, NotSentError);
  setTimeout(release, 50);
  await Promise.all([outcome, ...busy]);
  assert.equal(
    server.exchanges.some(({ method }) => method === 'PATCH'),
    false,
  );
  await server.stop();
});
