/** Whoever writes a policy names a host, and a registry names its token server: neither learns how private addresses answer. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo, type LookupFunction, type Server, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { isPrivateAddress } from '../../../src/service/registry/address-guard.ts';
import { createRegistryClient, type RegistryClientOptions } from '../../../src/service/registry/client.ts';
import type { HostEvent } from '../../../src/service/registry/host-limits.ts';
import { makeKubeKeys } from '../../harness/kube-keys.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

async function listen(t: TestContext, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return String((server.address() as AddressInfo).port);
}

async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

const answering =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

/** Its certificate is trusted: what it answers is read. */
async function startTrusted(t: TestContext, listener: RequestListener): Promise<string> {
  const { files, caPem } = await makeKubeKeys(tempFolder('conceal'));
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, caPem]);
  t.after(() => setDefaultCACertificates(trusted));
  return listen(t, createHttpsServer({ cert: readFileSync(files.serverCertificate), key: readFileSync(files.serverKey) }, listener));
}

/** What may be behind a port of a neighbour, by name. */
const neighbours: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  'nothing, the connection is refused': () => closedPort(),
  'a server that says nothing': (t) =>
    listen(
      t,
      createServer(() => undefined),
    ),
  'a server that closes the connection': (t) =>
    listen(
      t,
      createServer((socket) => socket.destroy()),
    ),
  'a server of another protocol': (t) =>
    listen(
      t,
      createServer((socket) => socket.end('220 mail.example.com ESMTP\r\n')),
    ),
  'a server with a certificate that is not trusted': async (t) => {
    const { files } = await makeKubeKeys(tempFolder('conceal'));
    const keys = { cert: readFileSync(files.serverCertificate), key: readFileSync(files.serverKey) };
    return listen(t, createHttpsServer(keys, answering(200, '{}')));
  },
  'a server that knows no such path': (t) => startTrusted(t, answering(404, 'not found')),
  'a server that wants a login': (t) => startTrusted(t, answering(401, 'who are you?', { 'www-authenticate': 'Basic' })),
  'a server that names a token server': (t) =>
    startTrusted(t, answering(401, '', { 'www-authenticate': 'Bearer realm="https://10.255.255.1/"' })),
  'a server that fails': (t) => startTrusted(t, answering(500, '{"secret":"internals"}')),
  'a server that is busy': (t) => startTrusted(t, answering(429, '', { 'retry-after': '60' })),
  'a server that says yes to everything': (t) => startTrusted(t, answering(200, '{"status":"green"}')),
};

const concealedMessage =
  /^reading [^ ]+: the request failed\. It leads to a private address, for which no details are shown here: the log of image-watcher has them \("registry failed, details"\); if it is a registry, have it added to registries or allowedRegistries of the configuration$/;

function start(t: TestContext, options: Partial<RegistryClientOptions> = {}) {
  const client = createRegistryClient({
    registries: [],
    allowedRegistries: [],
    timeoutMs: 500,
    random: () => 0,
    credentials: () => [],
    ...options,
  });
  t.after(() => client.close());
  return client;
}

async function failureOf(ask: () => Promise<unknown>): Promise<Error> {
  try {
    await ask();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  return assert.fail('it was answered');
}

describe('the message about a registry at a private address is the same, whatever answers there,', () => {
  for (const [what, open] of Object.entries(neighbours)) {
    test(`such as ${what}`, async (t) => {
      const registry = `127.0.0.1:${await open(t)}`;
      const details: HostEvent[] = [];
      const client = start(t, { onHostEvent: (event) => details.push(event) });
      // Beyond the failures that open the circuit of the host.
      for (let index = 0; index < 7; index++) {
        const error = await failureOf(() => client.listTags({ registry, path: `team/app-${index}` }));
        assert.match(error.message, concealedMessage);
        assert.deepEqual([error.name, error.cause], ['Error', undefined]);
      }
      assert.ok(details.some((event) => event.kind === 'details' && event.host === registry && !concealedMessage.test(event.why)));
      const named = start(t, { allowedRegistries: [registry] });
      const outcome = await named.listTags({ registry, path: 'team/app' }).catch((error: unknown) => String(error));
      assert.doesNotMatch(String(outcome), /private address/);
    });
  }
});

test('the failure of a host that a receiver of the configuration names is not concealed', async (t) => {
  const registry = `127.0.0.1:${await closedPort()}`;
  const error = await failureOf(() => start(t, { namedHosts: [registry] }).listTags({ registry, path: 'team/app' }));
  assert.match(error.message, /the connection was refused by 127\.0\.0\.1/);
});

test('a name that DNS resolves to a private address is concealed as private', async (t) => {
  const lookup: LookupFunction = (_name, { all }, callback) =>
    all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
  const registry = `innocent.example.com:${await closedPort()}`;
  const error = await failureOf(() => start(t, { lookup }).listTags({ registry, path: 'team/app' }));
  assert.match(error.message, concealedMessage);
});

test('a registry at a private address works without being configured, and reports missing tags and refused credentials', async (t) => {
  const header = { 'docker-distribution-api-version': 'registry/2.0' };
  let status = 404;
  const port = await startTrusted(t, (_request, response) => response.writeHead(status, header).end());
  const repository = { registry: `127.0.0.1:${port}`, path: 'team/app' };
  const client = start(t);
  assert.equal(await client.headManifest(repository, 'missing'), undefined);
  status = 401;
  await assert.rejects(client.headManifest(repository, '1'), { reason: 'RegistryDenied' });
});

for (const host of [
  '10.1.2.3',
  '172.31.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '127.9.9.9',
  '[::1]',
  '[fd12::1]',
  '[::ffff:10.0.0.1]',
  '[fe80::1%eth0]',
  'redis',
  'redis.shop.svc',
  'a.svc.cluster.local',
  'db.internal',
  'LOCALHOST.',
]) {
  test(`${host} is private`, () => assert.equal(isPrivateAddress(host), true));
}
for (const host of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '[2606:4700::1]', 'registry-1.docker.io', 'local.example.com']) {
  test(`${host} is not private`, () => assert.equal(isPrivateAddress(host), false));
}
