import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { closeListener, drainListener } from '../../../src/service/operations/listener.ts';
import { startApp } from '../receive/start-app.ts';

test('a sender that is still connected while the listener closes is answered, and told to reconnect', { timeout: 60_000 }, async (t) => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { app } = await startApp(t, {}, { storePushes: (events) => held.then(() => events) });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const post = async (body: string) => {
    const sent = request({ port, host: '127.0.0.1', agent, method: 'POST', path: '/webhooks/prod', headers: { authorization: 's3cret' } });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return [response.statusCode, response.headers.connection];
  };
  assert.deepEqual(await post('{}'), [200, 'keep-alive']);
  const arrived = once(app.server, 'request');
  const push = post(
    '{"type":"PUSH_ARTIFACT","occur_at":1,"event_data":{"resources":[{"tag":"1","resource_url":"h.example.com/a/b:1"}],"repository":{"repo_full_name":"a/b"}}}',
  );
  await arrived;
  const drained = drainListener(app.server);
  const during = post('{}');
  release();
  assert.equal((await push)[0], 202);
  assert.deepEqual(await during, [200, 'close']);
  await drained;
  await closeListener(app);
  await assert.rejects(post('{}'), /ECONNREFUSED/);
});

test('no client can keep the listener open', { timeout: 60_000 }, async (t) => {
  const server = createServer();
  // Sockets that never say anything would be watched by Node.
  server.removeAllListeners('connection');
  const timer = setInterval(() => server.emit('connection', new Socket()), 1);
  t.after(() => clearInterval(timer));
  await drainListener(server, 300);
});
