import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { limits, startApp } from './start-app.ts';
import type { ListenLimits } from '../../../src/service/receive/request-limits.ts';

async function listen(t: TestContext, changed: Partial<ListenLimits>): Promise<{ port: number; open: () => Promise<Connection> }> {
  const { app } = await startApp(t, {}, { limits: { ...limits, ...changed } });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const [address] = app.addresses();
  assert.ok(typeof address === 'object');
  const { port } = address;
  return { port, open: () => dial(t, port) };
}

interface Connection {
  readonly socket: Socket;
  /** All that came until the server ended it. */
  readonly ended: Promise<string>;
}

async function dial(t: TestContext, port: number): Promise<Connection> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  t.after(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  socket.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  await once(socket, 'connect');
  return { socket, ended };
}

const deadline = { timeout: 30_000 };

test('endless headers get 408 and close the connection', deadline, async (t) => {
  const { open } = await listen(t, { headersTimeoutMs: 100, requestTimeoutMs: 60_000 });
  const { socket, ended } = await open();
  socket.write('POST /webhooks/prod HTTP/1.1\r\nHost: a\r\n');
  const drip = setInterval(() => socket.write('X-A: b\r\n'), 90);
  t.after(() => clearInterval(drip));
  assert.match(await ended, /^HTTP\/1\.1 408 /);
});

test('an endless body gets 408 and closes the connection', deadline, async (t) => {
  const { open } = await listen(t, { headersTimeoutMs: 100, requestTimeoutMs: 200 });
  const { socket, ended } = await open();
  socket.write('POST /webhooks/prod HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n');
  const drip = setInterval(() => socket.write('x'), 90);
  t.after(() => clearInterval(drip));
  assert.match(await ended, /^HTTP\/1\.1 408 /);
});

test('a silent connection is closed', deadline, async (t) => {
  const { open } = await listen(t, { headersTimeoutMs: 100, requestTimeoutMs: 200 });
  const { ended } = await open();
  assert.doesNotMatch(await ended, /HTTP\/1\.1 2/);
});

test('headers over the limit get 431', deadline, async (t) => {
  const { open } = await listen(t, { maxHeaderBytes: 4_096 });
  const { socket, ended } = await open();
  socket.write(`POST /webhooks/prod HTTP/1.1\r\nHost: a\r\nX-A: ${'b'.repeat(5_000)}\r\n\r\n`);
  assert.match(await ended, /^HTTP\/1\.1 431 /);
});

test('connections over the limit are closed at once, and existing connections continue', deadline, async (t) => {
  const { open } = await listen(t, { maxConnections: 1 });
  const first = await open();
  const second = await open();
  assert.equal(await second.ended, '');
  first.socket.end('POST /webhooks/prod HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  assert.match(await first.ended, /^HTTP\/1\.1 401 /);
});

test('a slow sender does not delay other senders', deadline, async (t) => {
  const { open, port } = await listen(t, {});
  const { socket } = await open();
  socket.write('POST /webhooks/prod HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n');
  const answer = await fetch(`http://127.0.0.1:${port}/webhooks/prod`, {
    method: 'POST',
    body: '{}',
    headers: { authorization: 's3cret' },
  });
  assert.equal(answer.status, 200);
  // Otherwise the end of the test waits until the request times out.
  socket.destroy();
});
