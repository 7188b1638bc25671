/** What a user reads when a host that is no secret cannot be connected to, with real servers. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type LookupFunction, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { describeError } from '../../../src/core/model/errors.ts';
import { createRegistryClient } from '../../../src/service/registry/client.ts';
import { freePort } from '../../harness/free-port.ts';
import { createAuthority, loopback } from '../../harness/server-certificate.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const [ours, stranger] = await Promise.all([createAuthority('ours'), createAuthority('stranger')]);
const caFile = join(tempFolder('connection-failures'), 'ca.crt');
writeFileSync(caFile, ours.ca);

const hourMs = 3_600_000;
const answer: RequestListener = (_, response) => response.end('{"tags":[]}');
const secure = async (pair: Promise<{ cert: string; key: string }>) => createTlsServer(await pair, answer);
const manyNames = Array.from({ length: 50 }, (_, index) => ({ type: 'dns', value: `registry-${index}.example.com` }) as const);
const day = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 10);

interface Row {
  readonly open?: () => Promise<Server>;
  /** Instead of the server's address. */
  readonly host?: string;
  readonly insecure?: boolean;
  /** The time limit of a request. It is long unless a row waits for its end, because a loaded machine takes seconds for a handshake. */
  readonly timeoutMs?: number;
  readonly expected: RegExp;
}

const rows: Readonly<Record<string, Row>> = {
  'an expired certificate': {
    open: () => secure(ours.issue(loopback, -hourMs)),
    expected: new RegExp(`its certificate expired on ${day(-hourMs)}T\\S+Z \\(CERT_HAS_EXPIRED\\); renew the certificate of the host$`),
  },
  'a certificate that is not valid yet': {
    open: () => secure(ours.issue(loopback, 2 * hourMs, hourMs)),
    expected: new RegExp(`its certificate is not valid before ${day(hourMs)}T\\S+Z \\(CERT_NOT_YET_VALID\\); check the clocks`),
  },
  'a certificate for another name': {
    open: () => secure(ours.issue([{ type: 'dns', value: 'other.example.com' }])),
    expected: /its certificate is for other\.example\.com, not for 127\.0\.0\.1 \(ERR_TLS_CERT_ALTNAME_INVALID\); use a name that is in/,
  },
  'a certificate for many names': {
    open: () => secure(ours.issue(manyNames)),
    expected: /is for registry-0\.example\.com, registry-1\.example\.com, [^;]{1,90}…, not for 127\.0\.0\.1 /,
  },
  'a certificate of an unknown authority': {
    open: () => secure(stranger.issue(loopback)),
    expected:
      /its certificate is from an unknown authority \(\w+\); if a private authority issued it, set caFile for it in registries of the configuration$/,
  },
  'plain http instead of TLS': {
    open: async () => createHttpServer(answer),
    expected: /it does not answer with TLS \(ERR_SSL_WRONG_VERSION_NUMBER\); if it serves plain http, set insecure: true for it/,
  },
  'TLS instead of plain http': {
    open: async () => createServer((socket) => socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 70]))),
    insecure: true,
    expected: /it does not answer with HTTP; if it serves https, remove insecure: true for it/,
  },
  'a refused connection': {
    expected: /the connection was refused by 127\.0\.0\.1:\d+ \(ECONNREFUSED\); check the host and port, network policies and firewalls$/,
  },
  'a connection that is closed, as by a load balancer without a server behind it': {
    open: async () => createServer((socket) => socket.destroy()),
    expected: /the connection was closed before an answer came \((?:ECONNRESET|UND_ERR_SOCKET)\); check the port, and the load balancers/,
  },
  'a name that DNS does not know': {
    host: 'missing.example.com',
    expected: /cannot connect to missing\.example\.com: DNS does not know its name \(ENOTFOUND\); check the host, and the DNS of the pod$/,
  },
  'no answer': {
    timeoutMs: 1_000,
    open: async () => createServer(() => undefined),
    expected:
      /timed out: no answer from 127\.0\.0\.1:\d+ within 1000 ms; check the host and port, network policies and firewalls, and whether the host is overloaded/,
  },
};

const lookup: LookupFunction = (name, _, callback) =>
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), '', 0);

async function listen(t: TestContext, server: Server): Promise<string> {
  server.on('connection', (socket) => t.after(() => socket.destroy()));
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function failureAt(t: TestContext, host: string, { insecure = false, timeoutMs = 60_000 }: Partial<Row> = {}): Promise<string> {
  const registries = [{ host, insecure, caFile }];
  const client = createRegistryClient({ registries, allowedRegistries: [], credentials: () => [], timeoutMs, lookup });
  t.after(() => client.close());
  try {
    await client.listTags({ registry: host, path: 'team/app' });
  } catch (error) {
    return describeError(error);
  }
  return assert.fail('it was answered');
}

describe('the message about a failed connection names the cause and the remedy in the case of', () => {
  for (const [what, { open, host, expected, ...row }] of Object.entries(rows))
    test(what, async (t) => {
      const address = host ?? (open === undefined ? `127.0.0.1:${await freePort()}` : await listen(t, await open()));
      const message = await failureAt(t, address, row);
      assert.match(message, expected);
      assert.ok(message.length < 400, message);
    });

  test('a token server, which is named instead of the registry', async (t) => {
    const tokens = `127.0.0.1:${await freePort()}`;
    const challenge = { 'www-authenticate': `Bearer realm="http://${tokens}/token",service="registry"` };
    const host = await listen(
      t,
      createHttpServer((_, response) => response.writeHead(401, challenge).end()),
    );
    assert.match(await failureAt(t, host, { insecure: true }), new RegExp(`cannot connect to ${tokens}: the connection was refused by`));
  });
});
