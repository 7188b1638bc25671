/** Commands reach a server with https through the proxy of their environment; a token over plain http goes to no proxy. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { after, before, test } from 'node:test';
import { callApi } from '../../src/service/command-line/api-client.ts';
import { startForwardProxy, type ForwardProxy } from '../harness/forward-proxy.ts';
import { createAuthority } from '../harness/server-certificate.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const name = 'watcher.example.invalid';
const tokenFile = join(tempFolder('server-proxy'), 'token');
writeFileSync(tokenFile, 'the-token');
const authority = await createAuthority('watcher');
const seen: (string | undefined)[] = [];
const server = createServer(await authority.issue([{ type: 'dns', value: name }]), (request, response) => {
  seen.push(request.headers.authorization);
  response.end('{"events":[]}');
});
const kept = { ...process.env };
const trusted = getCACertificates('default');
let proxy: ForwardProxy;

before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  proxy = await startForwardProxy({ hosts: { [`${name}:443`]: port, [`${name}:80`]: port } });
  for (const variable of Object.keys(process.env)) if (/_proxy$/i.test(variable)) delete process.env[variable];
  Object.assign(process.env, { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url });
  setDefaultCACertificates([...trusted, authority.ca]);
});
after(async () => {
  setDefaultCACertificates(trusted);
  for (const variable of ['HTTPS_PROXY', 'HTTP_PROXY']) delete process.env[variable];
  Object.assign(process.env, kept);
  server.closeAllConnections();
  server.close();
  await proxy.stop();
});

test('commands reach --server over https through a tunnel, so that the proxy does not see the token', async () => {
  assert.deepEqual(await callApi({ server: `https://${name}`, 'token-file': tokenFile }, 'GET', '/api/v1/events'), { events: [] });
  assert.deepEqual([proxy.targets(), seen], [[`CONNECT ${name}:443`], ['Bearer the-token']]);
});

test('commands reach --server over plain http without the proxy', async () => {
  const asked = callApi({ server: `http://${name}`, insecure: true, 'token-file': tokenFile }, 'GET', '/api/v1/events');
  await assert.rejects(asked, /cannot be reached/);
  assert.deepEqual(proxy.targets(), [`CONNECT ${name}:443`]);
});

test('an error of a command names the proxy that failed', async () => {
  proxy.fault = () => 503;
  const asked = callApi({ server: `https://${name}`, 'token-file': tokenFile }, 'GET', '/api/v1/events');
  await assert.rejects(asked, /the proxy http:\S+ \(HTTPS_PROXY\) answered 503 to CONNECT watcher\.example\.invalid:443/);
});
