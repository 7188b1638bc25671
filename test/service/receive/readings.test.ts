/** How much memory bodies may take while nobody knows who sends them, on real connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { generic } from '../../../src/service/receive/providers/generic.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { startApp } from './start-app.ts';

const kib = 1_024;

async function listen(t: TestContext, readingBytes: number) {
  const { app } = await startApp(t, { provider: generic }, { readingBytes });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const [address] = app.addresses();
  assert.ok(typeof address === 'object');
  return address.port;
}

/** A request whose head says `length`, and which is answered with what `answer` gives. */
async function begin(t: TestContext, port: number, length: number): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`POST /webhooks/prod HTTP/1.1\r\nhost: a\r\nauthorization: Bearer s3cret\r\ncontent-length: ${length}\r\n\r\n`);
  const answer = once(socket, 'data').then(([text]) => String(text));
  return { socket, answer };
}

test('if bodies use too much memory together the largest is answered 503, and small ones are still read', async (t) => {
  const port = await listen(t, 1_000 * kib);
  const strangers = await Promise.all([0, 1, 2].map(() => begin(t, port, 600 * kib)));
  // None of them ever ends; two of them fit.
  for (const { socket } of strangers) socket.write(Buffer.alloc(500 * kib - 1));
  const refused = await Promise.race(strangers.map(({ answer }) => answer));
  assert.match(refused, /^HTTP\/1\.1 503 [^]*retry-after: 5/i);
  for (let round = 0; round < 5; round++) {
    const { socket, answer } = await begin(t, port, 2 * kib);
    socket.write('{}'.padStart(2 * kib));
    assert.match(await answer, /^HTTP\/1\.1 200 /);
  }
  for (const { socket } of strangers) socket.destroy();
});

test('a body that was read, refused or aborted no longer counts towards the memory of bodies', async (t) => {
  const port = await listen(t, 1_000 * kib);
  const send = async () => {
    const { socket, answer } = await begin(t, port, 900 * kib);
    socket.write('{}'.padStart(900 * kib));
    return (await answer).slice(0, 12);
  };
  for (let round = 0; round < 4; round++) {
    const broken = await begin(t, port, 900 * kib);
    broken.socket.write(Buffer.alloc(800 * kib), () => broken.socket.destroy());
    await once(broken.socket, 'close');
    // The server hears of it a moment later.
    await waitFor('the memory of what broke off', async () => (await send()) === 'HTTP/1.1 200' || undefined);
    assert.equal(await send(), 'HTTP/1.1 200');
  }
});
