/** What is requested outside of the cluster, apart from registries: each with a real forward proxy, which is the only one that knows the names. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, test, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createOidcClient } from '../../../src/dashboard/oidc.ts';
import { noProxies, parseProxy, type Proxies, type Proxy } from '../../../src/core/model/proxy.ts';
import { exchange } from '../../../src/service/proxy/exchange.ts';
import { openOutbound, type Outbound } from '../../../src/service/proxy/outbound.ts';
import { createKeySet } from '../../../src/service/receive/key-set.ts';
import { createFetchText } from '../../../src/service/receive/fetch-text.ts';
import { azureCredentials } from '../../../src/service/registry/credentials/azure.ts';
import { ecrCredentials } from '../../../src/service/registry/credentials/ecr.ts';
import { googleCredentials } from '../../../src/service/registry/credentials/google.ts';
import { sendRequest } from '../../../src/bases/triggers/send-request.ts';
import { runCommand } from '../../cli/run-command.ts';
import { client, signInAt, startProvider } from '../../dashboard/identity-provider.ts';
import { startForwardProxy, type ForwardProxy } from '../../harness/forward-proxy.ts';
import { freePort } from '../../harness/free-port.ts';
import { createAuthority } from '../../harness/server-certificate.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { imageAt, offerOf } from '../registry/credentials/conformance.ts';
import { startFakeCloud } from '../registry/credentials/fake-cloud.ts';

const publicUrl = 'http://localhost:9090';
const folder = tempFolder('outbound');
const authority = await createAuthority('outside');
const trusted = getCACertificates('default');

/** The hosts outside, behind one server, and what it answers by host and path. */
const answers: Readonly<Record<string, object>> = {
  'login.microsoftonline.com/tenant-1/oauth2/v2.0/token': { access_token: 'entra-token' },
  'example.azurecr.io/oauth2/exchange': { refresh_token: 'refresh-token' },
  'api.ecr.eu-west-1.amazonaws.com/': {
    authorizationData: [{ authorizationToken: Buffer.from('AWS:ecr-pa55word').toString('base64'), expiresAt: Date.now() / 1_000 + 43_200 }],
  },
};
const names = [
  ...new Set(Object.keys(answers).map((key) => key.split('/')[0] ?? '')),
  'sts.eu-west-1.amazonaws.com',
  'hooks.slack.com',
  'api.github.com',
  'issuer.example.com',
  'sso.example.com',
];
const assumed = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>example</SecretAccessKey><SessionToken>session</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;

let proxy: ForwardProxy;
let provider: Awaited<ReturnType<typeof startProvider>>;
const pair = await authority.issue(names.map((value) => ({ type: 'dns', value })));
const outside = createServer(pair, (request: IncomingMessage, response) => {
  void text(request).then(() => {
    const { host = '', 'x-amz-target': target } = request.headers;
    if (host.startsWith('sts.')) return response.writeHead(200, { 'content-type': 'text/xml' }).end(assumed);
    return response
      .writeHead(200, { 'content-type': target === undefined ? 'application/json' : 'application/x-amz-json-1.1' })
      .end(JSON.stringify(answers[`${host}${request.url}`] ?? { keys: [] }));
  });
});

before(async () => {
  setDefaultCACertificates([...trusted, authority.ca]);
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  const { port } = outside.address() as AddressInfo;
  provider = await startProvider(
    publicUrl,
    () => ({ email: 'ann@example.com', email_verified: true, groups: [] }),
    pair,
    'sso.example.com',
  );
  const sso = new URL(provider.issuer);
  proxy = await startForwardProxy({
    hosts: { ...Object.fromEntries(names.map((name) => [`${name}:443`, port])), [sso.host]: Number(sso.port) },
  });
});
after(async () => {
  setDefaultCACertificates(trusted);
  await provider.stop();
  await proxy.stop();
  outside.closeAllConnections();
  outside.close();
});
beforeEach(() => {
  proxy.fault = () => undefined;
  (proxy.requests as unknown[]).length = 0;
});

const named = (url: string): Proxy => parseProxy(url, 'HTTPS_PROXY') as Proxy;
function open(t: TestContext, more: Partial<Proxies> = {}): Outbound {
  const outbound = openOutbound({ ...noProxies, https: named(proxy.url), ...more });
  t.after(() => outbound.close());
  return outbound;
}
const options = () => ({ now: Date.now, signal: new AbortController().signal });
const post = { method: 'POST', headers: {}, body: '{}' } as const;
const slack = new URL('https://hooks.slack.com/services/s3cret-path');

describe('the proxy is used for', () => {
  test('notifications', async (t) => {
    const { result } = await exchange(slack, post, { ...options(), fetch: open(t).fetch });
    assert.deepEqual([result.kind, proxy.targets()], ['sent', ['CONNECT hooks.slack.com:443']]);
  });

  test('requests to CI systems', async (t) => {
    const url = new URL('https://api.github.com/repos/shop/web/dispatches');
    const sent = await sendRequest({ url, headers: { authorization: 'Bearer x' }, body: '{}' }, { ...options(), fetch: open(t).fetch });
    assert.deepEqual([sent, proxy.targets()], [{ kind: 'accepted' }, ['CONNECT api.github.com:443']]);
    assert.ok(proxy.requests.every(({ authorization }) => authorization === undefined));
  });

  test('keys of issuers and certificates of SNS', async (t) => {
    const errors: Error[] = [];
    const fetchText = createFetchText(open(t).dispatcher);
    const keys = createKeySet({
      url: 'https://issuer.example.com/keys',
      fetchText,
      elapsed: Date.now,
      onError: (error) => errors.push(error),
    });
    await keys.warm();
    assert.deepEqual([errors, proxy.targets()], [[], ['CONNECT issuer.example.com:443']]);
  });

  test('a whole sign-in at a real identity provider', async (t) => {
    const { fetch } = open(t);
    const claims = { usernameClaim: 'email', usernamePrefix: '', groupsClaim: 'groups', groupsPrefix: '' };
    const oidc = createOidcClient({
      issuer: provider.issuer,
      clientId: client.id,
      clientSecret: () => client.secret,
      scopes: ['openid', 'email', 'groups'],
      ...claims,
      fetch,
    });
    const { url, underWay } = await oidc.begin(`${publicUrl}/sign-in/callback`, '/');
    const browser = open(t);
    const { user } = await oidc.complete(await signInAt(url.href, publicUrl, browser.fetch), underWay);
    assert.equal(user, 'ann@example.com');
    assert.deepEqual(proxy.targets(), [`CONNECT ${new URL(provider.issuer).host}`]);
  });

  test('the token exchange for registries of Azure', async (t) => {
    const tokenFile = join(folder, 'azure-token');
    writeFileSync(tokenFile, 'federated');
    const identity = { tokenFile, tenantId: 'tenant-1', clientId: 'client-1', authorityHost: 'https://login.microsoftonline.com/' };
    const source = azureCredentials({ identity, dispatcherFor: open(t).dispatcherFor });
    const read = await offerOf(source, imageAt('example.azurecr.io')).read({ refresh: false });
    assert.ok('identityToken' in read && read.identityToken === 'refresh-token', JSON.stringify(read));
    assert.deepEqual(proxy.targets(), ['CONNECT example.azurecr.io:443', 'CONNECT login.microsoftonline.com:443']);
  });

  test('tokens of Amazon ECR, and of STS for the role of the pod', async (t) => {
    const tokenFile = join(folder, 'aws-token');
    writeFileSync(tokenFile, 'federated');
    const env = {
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/pull',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    withEnvironment(t, { ...env, AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null', AWS_REGION: 'eu-west-1' });
    const source = ecrCredentials({ dispatcherFor: open(t).dispatcherFor });
    const read = await offerOf(source, imageAt('123456789012.dkr.ecr.eu-west-1.amazonaws.com')).read({ refresh: false });
    assert.deepEqual(read, { username: 'AWS', password: 'ecr-pa55word' });
    assert.deepEqual(proxy.targets(), ['CONNECT api.ecr.eu-west-1.amazonaws.com:443', 'CONNECT sts.eu-west-1.amazonaws.com:443']);
  });

  test('tokens of a registry that has a proxy of its own', async (t) => {
    const host = '123456789012.dkr.ecr.eu-west-1.amazonaws.com';
    const outbound = open(t, { https: undefined, registries: new Map([[host, named(proxy.url)]]) });
    const identity = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'example' };
    const source = ecrCredentials({ client: { credentials: identity, maxAttempts: 1 }, dispatcherFor: outbound.dispatcherFor });
    assert.deepEqual(await offerOf(source, imageAt(host)).read({ refresh: false }), { username: 'AWS', password: 'ecr-pa55word' });
    assert.notEqual(outbound.dispatcherFor(host), outbound.dispatcherFor('210987654321.dkr.ecr.eu-west-1.amazonaws.com'));
    assert.deepEqual(proxy.targets(), ['CONNECT api.ecr.eu-west-1.amazonaws.com:443']);
  });

  test('messages of the command "notify test"', async (t) => {
    withEnvironment(t, { HTTPS_PROXY: proxy.url, SLACK: slack.href });
    const config = join(folder, 'config.yaml');
    writeFileSync(config, JSON.stringify({ notifications: { targets: [{ name: 'ops', kind: 'slack', url: { env: 'SLACK' } }] } }));
    const { code, out } = await runCommand('notify', ['test', '--config', config]);
    assert.deepEqual([code, proxy.targets()], [0, ['CONNECT hooks.slack.com:443']], out);
  });
});

describe('the proxy is not used for', () => {
  test('hosts in NO_PROXY', async (t) => {
    const { result } = await exchange(new URL('https://chat.example.invalid/'), post, {
      ...options(),
      fetch: open(t, { noProxy: '.invalid' }).fetch,
    });
    assert.deepEqual([result.kind, proxy.targets()], ['failed', []]);
  });

  test('loopback addresses, and the metadata server of Google', async (t) => {
    const outbound = open(t, { http: named(proxy.url) });
    const server = createHttpServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const { result } = await exchange(new URL(`http://127.0.0.1:${port}/`), post, { ...options(), fetch: outbound.fetch });
    assert.equal(result.kind, 'sent');
    const metadata = await startFakeCloud(() => ({
      headers: { 'metadata-flavor': 'Google' },
      body: { access_token: 'token', expires_in: 60 },
    }));
    await offerOf(googleCredentials({ metadataUrl: metadata.url }), imageAt('europe-docker.pkg.dev')).read({ refresh: false });
    assert.deepEqual([metadata.requests.length, proxy.targets()], [1, []]);
  });
});

describe('the message about a failure names the proxy', () => {
  test('in the result of a notification, without the address of the chat', async (t) => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const { result } = await exchange(slack, post, { ...options(), fetch: open(t, { https: named(dead) }).fetch });
    assert.equal(result.kind, 'failed');
    assert.match(
      result.message,
      /the proxy http:\S+ \(HTTPS_PROXY\) cannot be reached: the connection was refused by 127\.0\.0\.1:\d+ \(ECONNREFUSED\)$/,
    );
    assert.match('action' in result ? (result.action ?? '') : '', /^check its address, that it runs/);
    assert.doesNotMatch(JSON.stringify(result), /s3cret/);
  });

  test('in the result of a rebuild request', async (t) => {
    proxy.fault = () => 403;
    const sent = await sendRequest({ url: slack, headers: {}, body: '' }, { ...options(), fetch: open(t).fetch });
    assert.match(
      'message' in sent ? sent.message : '',
      /the proxy http:\S+ \(HTTPS_PROXY\) answered 403 to CONNECT hooks\.slack\.com:443; have it allow the host and port/,
    );
  });

  test('in the error about keys that cannot be fetched', async (t) => {
    proxy.fault = () => 503;
    const errors: Error[] = [];
    const fetchText = createFetchText(open(t).dispatcher);
    await createKeySet({
      url: 'https://issuer.example.com/keys',
      fetchText,
      elapsed: Date.now,
      onError: (error) => errors.push(error),
    }).warm();
    assert.match(
      errors[0]?.message ?? '',
      /the proxy http:\S+ \(HTTPS_PROXY\) answered 503 to CONNECT issuer\.example\.com:443; the proxy itself could not connect/,
    );
  });
});

/** Sets variables for one test; those of the proxies and of AWS are otherwise unset. */
function withEnvironment(t: TestContext, env: Readonly<Record<string, string>>): void {
  const kept = { ...process.env };
  for (const name of Object.keys(process.env)) if (/_proxy$|^AWS_/i.test(name)) delete process.env[name];
  Object.assign(process.env, env);
  t.after(() => {
    for (const name of Object.keys(process.env)) if (!(name in kept)) delete process.env[name];
    Object.assign(process.env, kept);
  });
}
