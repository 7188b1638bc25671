import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openKubeClient } from '../../../src/service/kube/client.ts';
import { KubeError } from '../../../src/service/kube/kube-error.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { type FakeApiServer, startFakeApiServer, writeKubeconfig } from './fake-api-server.ts';

const path = '/api/v1/namespaces/shop/secrets';
const get = { method: 'GET', path } as const;

async function fake(context: TestContext, options?: Parameters<typeof startFakeApiServer>[0]): Promise<FakeApiServer> {
  const server = await startFakeApiServer(options);
  context.after(() => server.stop());
  return server;
}

test('a hundred requests in a row share one connection', async (context) => {
  const server = await fake(context);
  const client = server.client();
  for (let i = 0; i < 100; i++) await client.request(get);
  assert.equal(server.exchanges.length, 100);
  // The next request may be sent in the very moment in which the connection of the last one becomes free.
  assert.ok(server.connections() <= 3, `${server.connections()} connections`);
});

test('many requests at once use at most 32 connections, and watches have their own', async (context) => {
  const stop = new AbortController();
  context.after(() => stop.abort());
  const server = await fake(context);
  const client = server.client();
  const held: (() => void)[] = [];
  server.handle((exchange) => {
    if (exchange.query.has('watch')) exchange.response.writeHead(200).flushHeaders();
    else held.push(() => exchange.json(200, {}));
  });
  let open = 0;
  for (let i = 0; i < 40; i++) {
    const lines = client.streamLines({ ...get, query: { watch: true }, signal: stop.signal, onOpen: () => (open += 1) });
    void collect(lines);
  }
  await waitFor('all watches to be open', () => open === 40);
  const all = Promise.all(Array.from({ length: 100 }, () => client.request(get)));
  await waitFor('every request connection to be busy', () => held.length === 32);
  assert.equal(server.connections(), 72);
  for (let answered = 0; answered < 100; answered++) (await waitFor('the next request', () => held.shift()))();
  await all;
  assert.equal(server.connections(), 72);
});

test('a request has a JSON body, the token, the query without undefined values, and a path below that of the server', async (context) => {
  const server = await fake(context, { basePath: '/k8s/clusters/c-1/' });
  const contentType = 'application/merge-patch+json';
  await server
    .client()
    .request({ method: 'PATCH', path, query: { fieldManager: 'image-watcher', not: undefined }, body: { a: 1 }, contentType });
  const [exchange] = server.exchanges;
  assert.equal(exchange?.path, `/k8s/clusters/c-1${path}`);
  assert.equal(exchange.query.toString(), 'fieldManager=image-watcher');
  assert.equal(exchange.body, '{"a":1}');
  assert.equal(exchange.headers['content-type'], contentType);
  assert.equal(exchange.headers.authorization, 'Bearer secret');
});

const causes = [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.image' }];
const failures = [
  {
    name: 'a Status with causes',
    status: 422,
    body: { kind: 'Status', reason: 'Invalid', message: 'web is invalid', details: { causes } },
    expected: { message: `GET ${path}: 422 Invalid: web is invalid`, reason: 'Invalid', causes, retryAfterMs: undefined },
  },
  {
    name: 'text from a proxy',
    status: 502,
    body: 'Bad gateway\n',
    expected: { message: `GET ${path}: 502: Bad gateway`, reason: '', causes: [], retryAfterMs: undefined },
  },
  {
    name: 'Retry-After in seconds',
    status: 429,
    body: { reason: 'TooManyRequests', message: 'slow down' },
    headers: { 'retry-after': '7' },
    expected: { message: `GET ${path}: 429 TooManyRequests: slow down`, reason: 'TooManyRequests', causes: [], retryAfterMs: 7000 },
  },
  {
    name: 'Retry-After as a date',
    status: 503,
    body: '',
    headers: { 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' },
    expected: { message: `GET ${path}: 503: empty answer`, reason: '', causes: [], retryAfterMs: 59_000 },
  },
];

for (const { name, status, body, headers, expected } of failures) {
  test(`a refusal with ${name} becomes a KubeError`, async (context) => {
    const server = await fake(context);
    server.handle((exchange) => exchange.json(status, body, headers));
    const client = server.client({ now: () => 1_000 });
    await assert.rejects(client.request(get), (error) => {
      assert.ok(error instanceof KubeError);
      assert.deepEqual({ message: error.message, reason: error.reason, causes: error.causes, retryAfterMs: error.retryAfterMs }, expected);
      return error.status === status;
    });
    await assert.rejects(collect(client.streamLines(get)), KubeError);
  });
}

test("the server's message is truncated, because it may contain the whole object", async (context) => {
  const server = await fake(context);
  server.handle((exchange) => exchange.json(422, { message: 'x'.repeat(5000), details: { causes: [{ message: 'y'.repeat(5000) }] } }));
  await assert.rejects(server.client().request(get), (error) => {
    assert.ok(error instanceof KubeError);
    return error.message.length < 600 && (error.causes[0]?.message?.length ?? 0) < 600;
  });
});

test('after 401 the token file is reloaded and the request is sent once more', async (context) => {
  const tokenFile = join(tempFolder('token'), 'token');
  writeFileSync(tokenFile, 'old\n');
  const server = await fake(context, { user: { tokenFile } });
  server.handle((exchange) => exchange.json(exchange.headers.authorization === 'Bearer new' ? 200 : 401, {}));
  const client = server.client();
  await assert.rejects(client.request(get), { status: 401 });
  assert.equal(server.exchanges.length, 2);
  writeFileSync(tokenFile, 'new\n');
  await client.request(get);
  await client.request(get);
  assert.deepEqual(
    server.exchanges.slice(2).map(({ headers }) => headers.authorization),
    ['Bearer old', 'Bearer new', 'Bearer new'],
  );
});

test('simultaneous refused requests run an exec plugin only once more', async (context) => {
  const folder = tempFolder('plugin');
  const runs = join(folder, 'runs');
  const script = `
    const fs = require('node:fs');
    fs.appendFileSync(${JSON.stringify(runs)}, 'x');
    const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
    const token = info.kind + fs.readFileSync(${JSON.stringify(runs)}, 'utf8').length;
    console.log(JSON.stringify({ apiVersion: info.apiVersion, kind: 'ExecCredential', status: { token } }));
  `;
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', script] };
  const server = await fake(context, { user: { exec } });
  const held: (() => void)[] = [];
  server.handle((exchange) => {
    if (exchange.headers.authorization === 'Bearer ExecCredential2') return exchange.json(200, {});
    held.push(() => exchange.json(401, {}));
    if (held.length === 10) for (const answer of held) answer();
  });
  // Each run is a start of Node.
  const client = server.client({ requestTimeoutMs: 60_000, now: () => 0 });
  await Promise.all(Array.from({ length: 10 }, () => client.request(get)));
  assert.equal(readFileSync(runs, 'utf8'), 'xx');
});

test('a read is retried when the connection was closed, a write is not', async (context) => {
  const server = await fake(context);
  const client = server.client();
  for (const { method, tries } of [
    { method: 'GET', tries: 2 },
    { method: 'PATCH', tries: 1 },
  ] as const) {
    const before = server.exchanges.length;
    server.handle((exchange) => exchange.reset());
    await assert.rejects(
      client.request({ method, path, body: method === 'GET' ? undefined : {} }),
      new RegExp(`^Error: ${method} ${path}: `),
    );
    assert.equal(server.exchanges.length - before, tries);
  }
});

test('a request to a server that does not answer costs no more than the timeout', async (context) => {
  const server = await fake(context);
  server.handle(() => undefined);
  await assert.rejects(server.client({ requestTimeoutMs: 50 }).request(get), { message: `GET ${path}: no complete answer within 50 ms` });
  server.handle((exchange) => void exchange.response.writeHead(200).write('{"half":'));
  await assert.rejects(server.client().request({ ...get, timeoutMs: 50 }), { message: `GET ${path}: no complete answer within 50 ms` });
});

test('an aborted request rejects with the reason, and an aborted stream ends quietly', async (context) => {
  const server = await fake(context);
  const client = server.client();
  const controller = new AbortController();
  server.handle((exchange) => void exchange.response.writeHead(200).write('{"a":1}\n{"b"'));
  const reason = new Error('enough');
  const request = assert.rejects(client.request({ ...get, signal: controller.signal }), reason);
  const lines: string[] = [];
  for await (const line of client.streamLines({ ...get, signal: controller.signal })) {
    lines.push(line);
    controller.abort(reason);
  }
  await request;
  assert.deepEqual(lines, ['{"a":1}']);
  await assert.rejects(client.request({ ...get, signal: controller.signal }), reason);
});

test('lines of a stream are assembled from chunks split anywhere', async (context) => {
  const server = await fake(context);
  const bytes = Buffer.from('{"name":"größe"}\r\n\n{"name":"b"}\n{"cut off');
  server.handle(({ response }) => {
    response.writeHead(200);
    for (const byte of bytes) response.write(Buffer.of(byte));
    response.end();
  });
  const lines = await collect(server.client().streamLines(get));
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { name: string }).name),
    ['größe', 'b'],
  );
});

test('a stream is read no faster than its lines are consumed', async (context) => {
  const server = await fake(context);
  const line = `${JSON.stringify({ text: 'x'.repeat(10_000) })}\n`;
  let sent = 0;
  server.handle(({ response }) => {
    const send = () => {
      while (sent < 10_000) {
        sent += 1;
        if (!response.write(line)) return void response.once('drain', send);
      }
      response.end();
    };
    send();
  });
  let taken = 0;
  for await (const _ of server.client().streamLines(get)) {
    taken += 1;
    // 100 MB are waiting to be sent; sockets and buffers hold a few.
    if (taken === 100) await waitForStandstill(() => sent);
    if (taken === 100) assert.ok(sent < 5_000, `${sent} lines sent while 100 were taken`);
  }
  assert.equal(taken, 10_000);
});

test('an idle stream ends without an error, so that a new request shows whether the connection is dead', async (context) => {
  const server = await fake(context);
  server.handle((exchange) => void exchange.response.writeHead(200).write('{"a":1}\n'));
  assert.deepEqual(await collect(server.client({ streamIdleMs: 50 }).streamLines(get)), ['{"a":1}']);
});

test('an invalid kubeconfig is refused at once', async () => {
  const missing = join(tempFolder('none'), 'config');
  await assert.rejects(openKubeClient({ kubeconfig: missing }), /config does not exist: name another one with the variable KUBECONFIG$/);
  await assert.rejects(
    openKubeClient({ kubeconfig: missing, option: '--kubeconfig' }),
    /config does not exist: name another one with --kubeconfig or the variable KUBECONFIG$/,
  );
  const kubeconfig = writeKubeconfig('https://127.0.0.1:1', {});
  await assert.rejects(openKubeClient({ kubeconfig, context: 'other' }), /no context "other"/);
});

test('the error of a refused connection names the request', async (context) => {
  const client = await openKubeClient({ kubeconfig: writeKubeconfig('https://127.0.0.1:1', { token: 'x' }) });
  context.after(() => client.close());
  await assert.rejects(client.request(get), { message: `GET ${path}: connect ECONNREFUSED 127.0.0.1:1` });
});

test('the client sends nothing after it was closed', async (context) => {
  const server = await fake(context);
  const client = server.client();
  await client.request(get);
  await client.close();
  await assert.rejects(client.request(get), /the Kubernetes client is closed/);
  assert.equal(server.exchanges.length, 1);
});

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

async function waitForStandstill(read: () => number): Promise<void> {
  let last = -1;
  await waitFor(
    'the sender to stand still',
    () => {
      const stands = read() === last;
      last = read();
      return stands;
    },
    { intervalMs: 100 },
  );
}
