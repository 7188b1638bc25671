/** Who may send what to the conversion listener, how much at a time, and how slowly: over real connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, connect as connectTcp, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { boundConnections } from '../../src/core/async/bound-connections.ts';
import { buildConversionApp, type ConversionOptions } from '../../src/conversion/conversion-app.ts';
import { convertReview } from '../../src/conversion/convert-review.ts';
import { makeProvisional } from '../../src/conversion/certificates/make-certificate.ts';
import { createLogger } from '../../src/service/telemetry/logger.ts';
import { createMetrics } from '../../src/service/telemetry/metrics.ts';
import { reviewOf } from '../end-to-end/conversion-world.ts';
import { makeClientCertificate } from '../harness/client-certificate.ts';
import { waitFor } from '../harness/wait-for.ts';

const bodyLimitBytes = 4_194_304;

interface Head {
  readonly length?: number;
  readonly type?: string;
  readonly line?: string;
}

async function start(t: TestContext, options: Partial<ConversionOptions> = {}) {
  const pair = await makeProvisional(['127.0.0.1'], new Date());
  const logger = createLogger('silent', { write: () => undefined });
  const reviewTimeoutMs = 600_000;
  const app = buildConversionApp({ ...pair, bodyLimitBytes, reviewTimeoutMs, convertReview, logger, metrics: createMetrics(), ...options });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const sockets: TLSSocket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await app.close();
  });
  /** A connection that has sent no more than the head of a request. */
  const open = async ({ length = 0, type = 'application/json', line = 'POST /convert?timeout=30s' }: Head, tls: object = {}) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...tls });
    sockets.push(socket);
    let text = '';
    let isClosed = false;
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.on('error', () => undefined).once('close', () => (isClosed = true));
    await once(socket, 'secureConnect');
    socket.write(`${line} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`);
    const status = () => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
    return {
      socket,
      status,
      text: () => text,
      isClosed: () => isClosed,
      answered: () => waitFor('an answer', () => status() !== 0 && status()),
    };
  };
  const send = async (body: string, tls: object = {}) => {
    const connection = await open({ length: Buffer.byteLength(body) }, tls);
    connection.socket.write(body);
    return connection;
  };
  return { open, send };
}

/** A review that is not small. */
const large = reviewOf(600);
const beginningOf = (body: string) => body.slice(0, 50_000);

const refused: [what: string, status: number, head: Head][] = [
  ['a body that is too long', 413, { length: bodyLimitBytes + 1 }],
  ['a body that is not JSON', 415, { length: 4_000_000, type: 'text/plain' }],
  ['a request for another path', 404, { length: 4_000_000, line: 'POST /other' }],
  ['a request with another method', 404, { length: 4_000_000, line: 'PUT /convert' }],
];
for (const [what, status, head] of refused) {
  test(`${what} is answered ${status} before its body is sent, and the connection closed`, async (t) => {
    const { open } = await start(t);
    const { answered, isClosed } = await open(head);
    assert.equal(await answered(), status);
    await waitFor('the connection to be closed', isClosed);
  });
}

test('large reviews are read one at a time, and small ones do not wait for them', async (t) => {
  const { open, send } = await start(t);
  const first = await open({ length: large.length });
  first.socket.write(beginningOf(large));
  // Its seat is taken when it is asked to go on.
  await waitFor('the first one to be read', () => first.socket.writableLength === 0);
  const small = await send(reviewOf(1));
  assert.equal(await small.answered(), 200);
  const second = await send(large);
  assert.equal(await (await send(reviewOf(2))).answered(), 200);
  assert.equal(second.status(), 0, 'the second one waits');
  first.socket.write(large.slice(50_000));
  assert.equal(await first.answered(), 200);
  assert.equal(await second.answered(), 200);
});

test('a slow sender loses its connection and its slot', async (t) => {
  const { open, send } = await start(t, { reviewTimeoutMs: 200 });
  const slow = await Promise.all(Array.from({ length: 8 }, () => open({ length: large.length })));
  const small = await Promise.all(Array.from({ length: 20 }, () => open({ length: 1_000 })));
  for (const { isClosed } of [...slow, ...small]) await waitFor('the connection to be closed', isClosed);
  const restarted = await start(t);
  assert.equal(await (await restarted.send(large)).answered(), 200);
  const nextReview = await send(reviewOf(1));
  assert.equal(await nextReview.answered(), 200);
});

test('a flood from one address does not delay any other', async (t) => {
  const { open, send } = await start(t);
  const flood = { localAddress: '127.0.0.2' };
  const held = await Promise.all(Array.from({ length: 50 }, () => open({ length: 1_000 }, flood)));
  for (let count = 0; count < 20; count++) assert.equal(await (await send(reviewOf(1))).answered(), 200);
  assert.ok(held.every(({ status }) => status() === 0));
});

test('with clientCaFile only clients with a certificate of that CA are answered, with clientNames only those named', async (t) => {
  const [known, unknown] = await Promise.all([makeClientCertificate('api-server'), makeClientCertificate('api-server')]);
  const ask = async ({ send }: Awaited<ReturnType<typeof start>>, tls: object) => {
    const { status, isClosed } = await send(reviewOf(1), tls);
    await waitFor('an answer, or the end', () => status() !== 0 || isClosed());
    return status();
  };
  for (const names of [[], ['proxy', 'api-server']]) {
    const listener = await start(t, { clients: { ca: known.cert, names } });
    assert.deepEqual([await ask(listener, {}), await ask(listener, unknown), await ask(listener, known)], [0, 0, 200]);
  }
  const others = await start(t, { clients: { ca: known.cert, names: ['somebody-else'] } });
  assert.equal(await ask(others, known), 403);
});

test('when there are too many connections, the address with the most of them loses one', async (t) => {
  const server = createServer();
  boundConnections(server, 3);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const closed: string[] = [];
  const open = async (name: string, localAddress: string) => {
    const socket = connectTcp({ host: '127.0.0.1', port, localAddress });
    t.after(() => socket.destroy());
    socket.on('error', () => undefined).once('close', () => closed.push(name));
    await once(socket, 'connect');
    return socket;
  };
  t.after(() => server.close());
  for (const name of ['a1', 'a2', 'a3']) await open(name, '127.0.0.2');
  await open('b1', '127.0.0.3');
  await waitFor('the oldest of a to be closed', () => closed.length === 1);
  await open('a4', '127.0.0.2');
  await waitFor('the newcomer to be refused', () => closed.length === 2);
  assert.deepEqual(closed, ['a1', 'a4']);
});
