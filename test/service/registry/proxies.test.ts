/** A real registry with its token server, both over TLS and behind a real forward proxy: what goes through it, what does not, and what a user reads when it fails. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test, type TestContext } from 'node:test';
import { createServer, getCACertificates, type Server, setDefaultCACertificates } from 'node:tls';
import { describeError } from '../../../src/core/model/errors.ts';
import { noProxies, type Proxies, type Proxy, parseProxy } from '../../../src/core/model/proxy.ts';
import { createRegistryClient, type RegistryClientOptions } from '../../../src/service/registry/client.ts';
import type { HostEvent } from '../../../src/service/registry/host-limits.ts';
import { type ForwardProxy, startForwardProxy } from '../../harness/forward-proxy.ts';
import { freePort } from '../../harness/free-port.ts';
import { pushImage, type Pushed } from '../../harness/push-image.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { createAuthority } from '../../harness/server-certificate.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { startTokenServer, type TokenServer } from '../../harness/token-server.ts';
import { offering } from './start-world.ts';

const user = { username: 'puller', password: 'secret' };
const host = 'registry.example.com';
const [ours, stranger] = await Promise.all([createAuthority('ours'), createAuthority('stranger')]);
const caFile = join(tempFolder('registry-proxies'), 'ca.crt');
writeFileSync(caFile, ours.ca);

let tokens: TokenServer;
let registry: Registry;
let proxy: ForwardProxy;
let pushed: Pushed;
const servers: Server[] = [];

/** TLS in front of a port, as a load balancer has it. */
async function serveTls(authority: typeof ours, names: Parameters<typeof ours.issue>[0], port: number): Promise<number> {
  const server = createServer(await authority.issue(names), (socket) => {
    const onward = connect(port, '127.0.0.1');
    socket
      .on('error', () => onward.destroy())
      .pipe(onward.on('error', () => socket.destroy()))
      .pipe(socket);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

before(async () => {
  tokens = await startTokenServer({ user: user.username, password: user.password });
  registry = await startRegistry({ token: { ...tokens.auth, realm: 'https://auth.example.com/token' } });
  pushed = await pushImage({
    host: registry.host,
    repository: 'team/app',
    tag: '1.0.0',
    auth: { token: await tokens.issue('team/app', ['pull', 'push']) },
  });
  const registryPort = Number(registry.host.split(':')[1]);
  const dns = (value: string) => [{ type: 'dns', value }] as const;
  proxy = await startForwardProxy({
    hosts: {
      'registry.example.com:443': await serveTls(ours, dns(host), registryPort),
      'auth.example.com:443': await serveTls(ours, dns('auth.example.com'), Number(new URL(tokens.auth.realm).port)),
      'stranger.example.com:443': await serveTls(stranger, dns('stranger.example.com'), registryPort),
      'wrong.example.com:443': await serveTls(ours, dns(host), registryPort),
      'plain.example.com:5000': registryPort,
      '10.9.8.7:443': await serveTls(stranger, dns('other.example.com'), registryPort),
    },
  });
});
after(async () => {
  for (const server of servers) server.close();
  await proxy.stop();
  await registry.stop();
  await tokens.stop();
});
beforeEach(() => {
  proxy.fault = () => undefined;
  (proxy.requests as unknown[]).length = 0;
});

const named = (url: string, source = 'HTTPS_PROXY'): Proxy => parseProxy(url, source) as Proxy;
const through = (url: string, more: Partial<Proxies> = {}): Proxies => ({
  ...noProxies,
  https: named(url),
  http: named(url, 'HTTP_PROXY'),
  ...more,
});

/** Names are never looked up here: whatever goes directly fails. */
function open(t: TestContext, proxies: Proxies, more: Partial<RegistryClientOptions> = {}) {
  const looked: string[] = [];
  const client = createRegistryClient({
    registries: [{ host, insecure: false, caFile }],
    allowedRegistries: [],
    credentials: offering(user),
    proxies,
    timeoutMs: 2_000,
    lookup(name, _, callback) {
      looked.push(name);
      callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), '', 0);
    },
    ...more,
  });
  t.after(() => client.close());
  return {
    looked,
    read: (registry = host) => client.resolveTag({ registry, path: 'team/app' }, '1.0.0'),
    async failure(registry = host): Promise<string> {
      try {
        await client.listTags({ registry, path: 'team/app' });
      } catch (error) {
        return describeError(error);
      }
      return assert.fail('it was answered');
    },
  };
}

describe('requests to a registry and its token server', () => {
  const both = ['CONNECT auth.example.com:443', 'CONNECT registry.example.com:443'];

  test('go through the proxy of the environment, which looks up their names', async (t) => {
    const { read, looked } = open(t, through(proxy.url));
    assert.equal((await read())?.digest, pushed.digest);
    assert.deepEqual(proxy.targets(), both);
    assert.deepEqual(looked, []);
  });

  test('go through the proxy of the registry, whatever the environment says', async (t) => {
    const proxies = { ...noProxies, noProxy: '*', registries: new Map([[host, named(proxy.url, 'registries[].proxy')]]) };
    assert.equal((await open(t, proxies).read())?.digest, pushed.digest);
    assert.deepEqual(proxy.targets(), both);
  });

  test('go directly if the registry says none, or NO_PROXY names the host', async (t) => {
    for (const more of [{ registries: new Map([[host, 'none' as const]]) }, { noProxy: '.example.com' }, { https: undefined }]) {
      const { failure, looked } = open(t, through(proxy.url, more));
      assert.match(await failure(), /cannot connect to registry\.example\.com: DNS does not know its name/);
      assert.deepEqual(looked, [host]);
    }
    assert.deepEqual(proxy.targets(), []);
  });

  test('are split by NO_PROXY: the registry through the proxy, its token server directly', async (t) => {
    const { failure, looked } = open(t, through(proxy.url, { noProxy: 'auth.example.com' }));
    assert.match(await failure(), /cannot connect to auth\.example\.com: DNS does not know its name/);
    assert.deepEqual([proxy.targets(), looked], [['CONNECT registry.example.com:443'], ['auth.example.com']]);
  });

  test('are sent without a tunnel if the registry speaks plain http', async (t) => {
    const plain = 'plain.example.com:5000';
    const { failure } = open(t, through(proxy.url), { registries: [{ host: plain, insecure: true }], credentials: () => [] });
    assert.match(await failure(plain), /auth\.example\.com/);
    assert.ok(proxy.targets().includes(`GET http://${plain}/v2/team/app/tags/list?n=1000`), proxy.targets().join());
  });

  test('give the proxy its own credentials, and no other host', async (t) => {
    const strict = await startForwardProxy({ hosts: { 'registry.example.com:443': 1 }, user: 'me', password: 'p@ss w0rd' });
    t.after(() => strict.stop());
    const { failure } = open(t, through(strict.url.replace('//', '//me:p%40ss%20w0rd@')));
    const message = await failure();
    assert.equal(strict.requests[0]?.authorization, `Basic ${Buffer.from('me:p@ss w0rd').toString('base64')}`);
    assert.doesNotMatch(message, /p@ss|p%40ss|me:/);
  });

  test("trust the process's authorities beside the caFile of the registry, which a proxy that intercepts TLS needs", async (t) => {
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, ours.ca]);
    t.after(() => setDefaultCACertificates(trusted));
    const other = join(tempFolder('registry-proxies'), 'other.crt');
    writeFileSync(other, stranger.ca);
    const { read } = open(t, through(proxy.url), { registries: [{ host, insecure: false, caFile: other }] });
    assert.equal((await read())?.digest, pushed.digest);
  });

  test('go through a proxy that itself speaks TLS', async (t) => {
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, ours.ca]);
    t.after(() => setDefaultCACertificates(trusted));
    const port = Number(registry.host.split(':')[1]);
    const hosts = { 'registry.example.com:443': await serveTls(ours, [{ type: 'dns', value: host }], port) };
    const secure = await startForwardProxy({ hosts, tls: await ours.issue([{ type: 'dns', value: 'localhost' }]) });
    t.after(() => secure.stop());
    assert.match(
      await open(t, through(secure.url)).failure(),
      /cannot connect to auth\.example\.com: the proxy https:\S+ \(HTTPS_PROXY\) answered 502/,
    );
    assert.deepEqual(secure.targets(), both);
  });
});

describe('the message about a failure behind a proxy', () => {
  const remedyOf = {
    403: 'have it allow the host and port; NO_PROXY and registries\\[\\]\\.proxy: none are for hosts that need no proxy',
    407: 'write the user and password that the proxy accepts into its URL: http://USER:PASSWORD@HOST:PORT',
    502: 'the proxy itself could not connect to the host: check the host and port, and the DNS and firewall of the proxy; NO_PROXY',
    503: 'the proxy itself could not connect to the host',
  };
  for (const [status, remedy] of Object.entries(remedyOf))
    test(`names the proxy that answers ${status}, and says what to do`, async (t) => {
      proxy.fault = () => Number(status);
      const expected = `cannot connect to ${host}: the proxy ${proxy.url} \\(HTTPS_PROXY\\) answered ${status} to CONNECT ${host}:443; ${remedy}`;
      assert.match(await open(t, through(proxy.url)).failure(), new RegExp(expected));
    });

  test('names the proxy that cannot be reached, not the registry', async (t) => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const expected = `cannot connect to ${host}: the proxy ${dead} \\(HTTPS_PROXY\\) cannot be reached: the connection was refused by 127\\.0\\.0\\.1:\\d+ \\(ECONNREFUSED\\); check its address, that it runs, and who may connect to it; NO_PROXY`;
    assert.match(await open(t, through(dead.replace('//', '//me:secret@'))).failure(), new RegExp(expected));
  });

  test('names the setting of a proxy for one registry', async (t) => {
    const dead = named(`http://127.0.0.1:${await freePort()}`, 'registries[].proxy');
    const message = await open(t, { ...noProxies, registries: new Map([[host, dead]]) }).failure();
    assert.match(message, /the proxy http:\S+ \(registries\[\]\.proxy\) cannot be reached: the connection was refused by/);
  });

  test('names the proxy that cannot be reached for plain http', async (t) => {
    const plain = 'plain.example.com:5000';
    const dead = through(`http://127.0.0.1:${await freePort()}`);
    const { failure } = open(t, dead, { registries: [{ host: plain, insecure: true }] });
    assert.match(
      await failure(plain),
      /cannot connect to plain\.example\.com:5000: the proxy http:\S+ \(HTTP_PROXY\) cannot be reached: the connection was refused/,
    );
  });

  test('names the proxy that wants another password for plain http', async (t) => {
    proxy.fault = () => 407;
    const plain = 'plain.example.com:5000';
    const { failure } = open(t, through(proxy.url), { registries: [{ host: plain, insecure: true }] });
    assert.match(await failure(plain), /through the proxy http:\S+ \(HTTP_PROXY\).*Proxy Authentication Required \(407\)/);
  });

  test('names the proxy through which no answer came', async (t) => {
    proxy.fault = () => 'hangs';
    const expected = `timed out: no answer from ${host} through the proxy ${proxy.url} \\(HTTPS_PROXY\\) within 2000 ms; check that the proxy may connect there`;
    assert.match(await open(t, through(proxy.url)).failure(), new RegExp(expected));
  });

  test('names the registry if the certificate of the registry has another name', async (t) => {
    const { failure } = open(t, through(proxy.url), { registries: [{ host: 'wrong.example.com', insecure: false, caFile }] });
    assert.match(
      await failure('wrong.example.com'),
      /through the proxy http:\S+ \(HTTPS_PROXY\): its certificate is for registry\.example\.com, not for wrong\.example\.com/,
    );
  });

  test('names the proxy if the certificate of the proxy has another name', async (t) => {
    const secure = await startForwardProxy({ hosts: {}, tls: await ours.issue([{ type: 'dns', value: 'other.example.com' }]) });
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, ours.ca]);
    t.after(() => setDefaultCACertificates(trusted));
    t.after(() => secure.stop());
    assert.match(
      await open(t, through(secure.url)).failure(),
      /cannot connect to registry\.example\.com: the proxy https:\S+ \(HTTPS_PROXY\) cannot be reached: its certificate is for other\.example\.com, not for localhost/,
    );
  });

  test('names the registry if its certificate has an unknown authority', async (t) => {
    const { failure } = open(t, through(proxy.url));
    assert.match(
      await failure('stranger.example.com'),
      new RegExp(
        `cannot connect to stranger\\.example\\.com through the proxy ${proxy.url} \\(HTTPS_PROXY\\): its certificate is from an unknown authority`,
      ),
    );
  });
});

describe('the address guard', () => {
  test('sends nothing to metadata servers through a proxy', async (t) => {
    const { failure } = open(t, through(proxy.url));
    for (const forbidden of ['169.254.169.254', 'metadata.google.internal', '[fd00:ec2::254]'])
      assert.match(await failure(forbidden), /is a link-local or metadata address, to which no requests are sent/);
    assert.deepEqual(proxy.targets(), []);
  });

  test('conceals how private addresses and names answer behind a proxy', async (t) => {
    const events: HostEvent[] = [];
    const { failure } = open(t, through(proxy.url), { onHostEvent: (event) => events.push(event) });
    const answers = await Promise.all(['10.9.8.7', '10.9.8.6', 'billing.shop.svc', 'intranet'].map((name) => failure(name)));
    for (const message of answers)
      assert.match(message, /the request failed\. It leads to a private address, for which no details are shown here/);
    assert.deepEqual(proxy.targets(), [
      'CONNECT 10.9.8.6:443',
      'CONNECT 10.9.8.7:443',
      'CONNECT billing.shop.svc:443',
      'CONNECT intranet:443',
    ]);
    assert.ok(events.some((event) => event.kind === 'details' && /answered 502 to CONNECT 10\.9\.8\.6:443/.test(event.why)));
  });

  test('looks up the names of hosts that go directly, beside those that do not', async (t) => {
    const { failure } = open(t, through(proxy.url, { noProxy: 'rebound.example.com' }), {
      lookup: (_name, _options, callback) => callback(null, [{ address: '169.254.169.254', family: 4 }]),
    });
    assert.match(await failure('rebound.example.com'), /which is 169\.254\.169\.254, is a link-local or metadata address/);
    assert.deepEqual(proxy.targets(), []);
  });
});
