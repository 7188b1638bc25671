/** The API is the same to the dashboard, whether it is in the same process or behind an address. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createTurns } from '../../src/core/async/turns.ts';
import { connectOver, connectWithin } from '../../src/dashboard/transport.ts';
import { openDashboard } from './start-dashboard.ts';

test('both ways to the API give the same answers', async (t) => {
  const { app } = openDashboard(t);
  const address = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const asked = { headers: { accept: 'application/json' }, peer: '127.0.0.1' };
  for (const path of ['/policies?limit=1', '/policies/nowhere/none', '/nothing']) {
    const [within, over] = await Promise.all(
      [connectWithin(app, createTurns()), connectOver(address, fetch)].map((one) => one.send({ ...asked, method: 'GET', path })),
    );
    assert.deepEqual(over, within, path);
  }
});

test('readings of pages cost more where another process answers them, and the pace of open pages counts that', (t) => {
  const { app } = openDashboard(t);
  assert.equal(connectWithin(app, createTurns()).costs, 1);
  assert.ok(connectOver(new URL('http://127.0.0.1:1'), fetch).costs > 1);
});

test('a stream of an API in another process is text, also where a character is spread over two parts', async (t) => {
  const text = 'event: policy\ndata: {"message": "等待 ✓"}\n\n';
  const bytes = Buffer.from(text);
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(bytes.subarray(0, bytes.indexOf('等') + 1), () => response.end(bytes.subarray(bytes.indexOf('等') + 1)));
  });
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const transport = connectOver(new URL(`http://127.0.0.1:${port}`), fetch);
  const { body } = await transport.stream({ method: 'GET', path: '/stream', headers: {}, peer: '' }, new AbortController().signal);
  let read = '';
  for await (const part of body) read += part;
  assert.equal(read, text);
});
