import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { normaliseRepository } from '../../../src/core/model/image-reference.ts';
import { createRegistryClient, type RegistryClientOptions } from '../../../src/service/registry/client.ts';
import { fakeDigest, startFakeRegistry } from '../../harness/fake-registry.ts';
import { makeKubeKeys } from '../../harness/kube-keys.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { asked, offering, startWorld } from './start-world.ts';

const refused = (expected: RegExp) => (error: unknown) => {
  assert.ok(error instanceof PermanentError, String(error));
  assert.equal(error.reason, 'RegistryRefused');
  assert.match(error.message, expected);
  return true;
};
const credential = { username: 'me', password: 'secret' };

function clientFor(t: { after(end: () => Promise<void>): void }, options: Partial<RegistryClientOptions>) {
  const client = createRegistryClient({ registries: [], allowedRegistries: [], credentials: () => [], ...options });
  t.after(() => client.close());
  return client;
}

for (const host of ['169.254.169.254', '169.254.169.254:80', '[fe80::1]', '[fd00:ec2::254]', 'metadata.google.internal']) {
  test(`a registry at ${host} is refused`, async (t) => {
    const client = clientFor(t, { registries: [{ host, insecure: true }], allowedRegistries: [host] });
    await assert.rejects(client.listTags({ registry: host, path: 'a' }), refused(/is a link-local or metadata address/));
  });
}

for (const host of ['1.2.3.4.5', '256.1.1.1', '[:::]']) {
  test(`the invalid registry host ${host} is a permanent error`, async (t) => {
    await assert.rejects(clientFor(t, {}).listTags({ registry: host, path: 'a' }), {
      name: 'PermanentError',
      message: /is not the host of a registry/,
    });
  });
}

const toMetadata: LookupFunction = (_hostname, { all }, callback) =>
  all ? callback(null, [{ address: '169.254.169.254', family: 4 }]) : callback(null, '169.254.169.254', 4);

test('a registry whose name resolves to a metadata address is refused', async (t) => {
  const client = clientFor(t, { lookup: toMetadata });
  await assert.rejects(
    client.listTags({ registry: 'innocent.example.com', path: 'a' }),
    refused(/innocent\.example\.com, which is 169\.254\.169\.254,/),
  );
});

test('requests to Docker Hub go to its API host over https', async (t) => {
  const names: string[] = [];
  const lookup: LookupFunction = (hostname, _options, callback) => {
    names.push(hostname);
    callback(Object.assign(new Error('not here'), { code: 'ENOTFOUND' }), '', 0);
  };
  const client = clientFor(t, { lookup });
  const repository = normaliseRepository('docker.io', 'nginx');
  await assert.rejects(client.headManifest(repository, '1'), {
    message:
      'HEAD manifest of docker.io/library/nginx:1: cannot connect to registry-1.docker.io: DNS does not know its name (ENOTFOUND); check the host, and the DNS of the pod',
  });
  assert.deepEqual(names, ['registry-1.docker.io']);
});

test('registries outside allowedRegistries are refused, with the name of the setting', async (t) => {
  const { fake, client, repository } = await startWorld(t, { allowedRegistries: ['https://Index.docker.io', 'r.example.com:443'] });
  await assert.rejects(client.headManifest(repository, '1'), refused(/is not in allowedRegistries of the configuration/));
  await assert.rejects(client.listTags(repository), refused(/allowedRegistries/));
  assert.equal(fake.requests.length, 0);
});

const realms: [name: string, realm: string, expected: RegExp][] = [
  ['at a link-local address', 'https://169.254.169.254/latest/meta-data', /169\.254\.169\.254 is a link-local or metadata address/],
  ['at a disguised link-local address', 'http://[::ffff:a9fe:a9fe]/', /link-local or metadata address/],
  ['with another protocol', 'ftp://127.0.0.1/token', /only https is allowed/],
];
for (const [name, realm, expected] of realms) {
  test(`a token realm ${name} is refused`, async (t) => {
    const { fake, client, repository } = await startWorld(t, { credentials: offering(credential) });
    fake.requireBearer({ realm });
    await assert.rejects(client.headManifest(repository, '1'), refused(expected));
  });
}

test('a token realm that is not a URL is a retryable error', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.requireBearer({ realm: '/token' });
  await assert.rejects(client.headManifest(repository, '1'), { name: 'Error', message: /names a token realm that is not a URL/ });
});

test('redirects within the registry keep the authorization', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: offering(credential) });
  fake.setTag('team/moved', '1', fakeDigest('a'));
  fake.requireBasic({ user: 'me', password: 'secret' });
  fake.answerNext({ status: 307, headers: { location: '/v2/team/moved/manifests/1' } }, { path: '/v2/team/app/' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, fakeDigest('a'));
  assert.deepEqual(asked(fake), ['GET /v2/', 'HEAD /v2/team/app/manifests/1', 'HEAD /v2/team/moved/manifests/1']);
});

test('redirects to another host do not carry the authorization, not even when they lead back', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: offering(credential) });
  const otherRegistry = await startFakeRegistry();
  t.after(() => otherRegistry.stop());
  fake.requireBasic({ user: 'me', password: 'secret' });
  fake.answerNext({ status: 307, headers: { location: `http://${otherRegistry.host}/elsewhere` } }, { path: '/v2/team/app/' });
  otherRegistry.answerNext({ status: 302, headers: { location: `http://${fake.host}/back` } });
  fake.answerNext({ headers: { 'docker-content-digest': fakeDigest('a') } }, { path: '/back' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, fakeDigest('a'));
  assert.deepEqual(
    otherRegistry.requests.map(({ path, authorization }) => [path, authorization]),
    [['/elsewhere', undefined]],
  );
  assert.equal(fake.requests.at(-1)?.authorization, undefined);
});

test('a challenge behind a redirect gets no credential', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: offering(credential) });
  const otherRegistry = await startFakeRegistry();
  t.after(() => otherRegistry.stop());
  otherRegistry.requireBasic({ user: 'me', password: 'secret' });
  fake.answerNext({ status: 307, headers: { location: `http://${otherRegistry.host}/v2/a/manifests/1` } }, { path: '/v2/team/app/' });
  await assert.rejects(client.headManifest(repository, '1'), { name: 'Error', message: /registry answered 401$/ });
  assert.deepEqual(
    otherRegistry.requests.map(({ authorization }) => authorization),
    [undefined],
  );
});

const redirects: [name: string, location: string, expected: RegExp][] = [
  ['to a metadata address', 'http://169.254.169.254/latest', /link-local or metadata address/],
  ['to a file', 'file:///etc/passwd', /only https is allowed/],
];
for (const [name, location, expected] of redirects) {
  test(`a redirect ${name} is refused`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.answerNext({ status: 302, headers: { location } });
    await assert.rejects(client.headManifest(repository, '1'), refused(expected));
  });
}

test('endless redirects and redirects without a target are retryable errors', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.answerNext({ status: 302, headers: { location: '/again' } }, { times: 4 });
  await assert.rejects(client.headManifest(repository, '1'), { name: 'Error', message: /more than 3 redirects$/ });
  fake.answerNext({ status: 302, headers: { location: 'http://' } });
  await assert.rejects(client.headManifest(repository, '1'), { name: 'Error', message: /redirected to something that is not a URL$/ });
  fake.answerNext({ status: 302 });
  await assert.rejects(client.headManifest(repository, '1'), { name: 'Error', message: /registry answered 302$/ });
});

test('TLS is verified with the authority that is configured for the registry', async (t) => {
  const folder = tempFolder('registry-tls');
  const { caPem } = await makeKubeKeys(folder);
  const caFile = join(folder, 'registry-ca.crt');
  writeFileSync(caFile, caPem);
  const tls = { key: readFileSync(join(folder, 'server.key'), 'utf8'), cert: readFileSync(join(folder, 'server.crt'), 'utf8') };
  const fake = await startFakeRegistry({ tls });
  const plain = await startFakeRegistry();
  t.after(() => Promise.all([fake.stop(), plain.stop()]));
  fake.setTag('a', '1', fakeDigest('a'));
  const repository = { registry: fake.host, path: 'a' };

  await t.test('a private CA is trusted with caFile, for the token server too, and connections are kept', async (t) => {
    fake.requireBearer();
    const client = clientFor(t, { registries: [{ host: fake.host, insecure: false, caFile }] });
    for (let i = 0; i < 10; i++) assert.equal((await client.headManifest(repository, '1'))?.digest, fakeDigest('a'));
    assert.ok(fake.connections <= 4, `${fake.connections} connections`);
  });

  await t.test('without caFile the message names the setting', async (t) => {
    const client = clientFor(t, { allowedRegistries: [repository.registry] });
    await assert.rejects(
      client.headManifest(repository, '1'),
      /its certificate is from an unknown authority .*set caFile for it in registries/,
    );
  });

  await t.test('the message for an https request to a plain http registry names the setting', async (t) => {
    await assert.rejects(
      clientFor(t, { allowedRegistries: [plain.host] }).headManifest({ registry: plain.host, path: 'a' }, '1'),
      /if it serves plain http, set insecure: true/,
    );
    assert.equal(plain.requests.length, 0);
  });

  await t.test('a plain http request to a TLS registry is a retryable error', async (t) => {
    const client = clientFor(t, { registries: [{ host: fake.host, insecure: true }] });
    await assert.rejects(client.headManifest(repository, '1'), { name: 'Error' });
  });

  await t.test('a TLS registry may not send tokens or redirects over plain http', async (t) => {
    const client = clientFor(t, { registries: [{ host: fake.host, insecure: false, caFile }] });
    fake.requireBearer({ realm: `http://${plain.host}/token` });
    fake.revokeTokens();
    await assert.rejects(
      client.headManifest(repository, '1'),
      refused(/redirects to http:\/\/127\.0\.0\.1:\d+, but only https is allowed/),
    );
    fake.answerNext({ status: 302, headers: { location: `http://${plain.host}/` } });
    await assert.rejects(client.headManifest(repository, '1'), refused(/only https is allowed/));
    assert.equal(plain.requests.length, 0);
  });

  await t.test('a caFile that cannot be read is an error at the start', () => {
    const registries = [{ host: 'r.example.com', insecure: false, caFile: join(folder, 'missing.crt') }];
    assert.throws(() => clientFor(t, { registries }), /reading caFile .*missing\.crt of the registry r\.example\.com/);
  });
});
