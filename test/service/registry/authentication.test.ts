import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError, WaitError } from '../../../src/core/model/errors.ts';
import type { Credential, CredentialSource, ReadOptions } from '../../../src/service/registry/credential.ts';
import { fakeDigest } from '../../harness/fake-registry.ts';
import { asked, startWorld } from './start-world.ts';

const head = 'HEAD /v2/team/app/manifests/1';
const token = 'GET /token';
const me: Credential = { username: 'me', password: 'secret' };
const digest = fakeDigest('a');

/** A source that notes how often it was refreshed, and answers `renewed` from then on. */
function source(first: Credential | undefined, renewed = first): CredentialSource & { refreshes: number } {
  const read = async ({ refresh }: ReadOptions) => {
    if (refresh) offers.refreshes++;
    return (offers.refreshes > 0 ? renewed : first) ?? { why: 'does not exist' };
  };
  const offers = Object.assign(() => [{ source: 'Secret shop/creds', isOwn: true, read }], { refreshes: 0 });
  return offers;
}

test('anonymous bearer authentication takes a challenge and a token, and then one request', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', digest);
  fake.requireBearer();
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake), [head, token, head]);
  assert.deepEqual(await client.headManifest(repository, '1'), { digest, mediaType: 'application/vnd.oci.image.manifest.v1+json' });
  assert.deepEqual(asked(fake).slice(3), [head]);
  assert.equal(fake.requests[1]?.path, '/token?service=fake&scope=repository%3Ateam%2Fapp%3Apull');
  assert.equal(fake.requests[1]?.authorization, undefined);
});

test('a credential for bearer authentication is sent to the token server only', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source(me) });
  fake.setTag('team/app', '1', digest);
  fake.requireBearer({ user: 'me', password: 'secret' });
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake), ['GET /v2/', token, head]);
  const authorizations = fake.requests.map(({ authorization }) => authorization);
  assert.deepEqual(authorizations, [undefined, `Basic ${btoa('me:secret')}`, 'Bearer token-1']);
});

test('a cached token is used for the list of tags as well, and not for another repository', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', digest);
  fake.setTag('team/other', '1', digest);
  fake.requireBearer();
  await client.headManifest(repository, '1');
  fake.requests.length = 0;
  await client.listTags(repository);
  await client.headManifest({ ...repository, path: 'team/other' }, '1');
  assert.deepEqual(asked(fake), ['GET /v2/team/app/tags/list', token, 'HEAD /v2/team/other/manifests/1']);
});

test('simultaneous requests share one token', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', digest);
  fake.requireBearer();
  await Promise.all(Array.from({ length: 8 }, () => client.headManifest(repository, '1')));
  assert.equal(asked(fake).filter((request) => request === token).length, 1);
});

test('a token is renewed before it expires', async (t) => {
  let now = 0;
  const { fake, client, repository } = await startWorld(t, { now: () => now });
  fake.setTag('team/app', '1', digest);
  fake.requireBearer({ expiresIn: 300 });
  await client.headManifest(repository, '1');
  fake.requests.length = 0;
  now = 269_999;
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake), [head]);
  now = 270_000;
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake).slice(1), [token, head]);
});

test('a token without expires_in lives a minute, and access_token is accepted like token', async (t) => {
  let now = 0;
  const { fake, client, repository } = await startWorld(t, { now: () => now });
  fake.setTag('team/app', '1', digest);
  fake.requireBearer();
  await client.headManifest(repository, '1');
  now = 48_000;
  fake.answerNext({ body: '{"access_token":"token-1","token":""}' }, { path: '/token' });
  fake.requests.length = 0;
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake), [token, head]);
});

test('a refused token is discarded and requested once more', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', digest);
  fake.requireBearer();
  await client.headManifest(repository, '1');
  fake.revokeTokens();
  fake.requests.length = 0;
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  assert.deepEqual(asked(fake), [head, token, head]);
});

test('a registry that switches from bearer to basic authentication is followed', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source(me) });
  fake.setTag('team/app', '1', digest);
  fake.requireBearer();
  await client.headManifest(repository, '1');
  fake.requireBasic({ user: 'me', password: 'secret' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
});

test('a token server that no longer answers is forgotten, so that a moved one is found', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', digest);
  fake.requireBearer({ expiresIn: 0.001, realm: `http://${fake.host}/token?old` });
  await client.headManifest(repository, '1').catch(() => {});
  fake.requireBearer();
  fake.revokeTokens();
  fake.answerNext({ status: 404 }, { path: '/token?old', times: 2 });
  await client.headManifest(repository, '1').catch(() => {});
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
});

test('a changed credential is used at once with basic authentication', async (t) => {
  const credentials = source({ ...me, password: 'old' }, me);
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.setTag('team/app', '1', digest);
  fake.requireBasic({ user: 'me', password: 'secret' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  assert.deepEqual(asked(fake), ['GET /v2/', head, head]);
  assert.equal(credentials.refreshes, 1);
});

test('a changed credential is used at once with bearer authentication, when the token server refuses the old one', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source({ ...me, password: 'old' }, me) });
  fake.setTag('team/app', '1', digest);
  fake.requireBearer({ user: 'me', password: 'secret' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  assert.deepEqual(asked(fake), ['GET /v2/', token, head, token, head]);
});

test('a credential that is added later is used', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source(undefined, me) });
  fake.setTag('team/app', '1', digest);
  fake.requireBasic({ user: 'me', password: 'secret' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  assert.deepEqual(asked(fake), [head, head]);
});

test('an identity token is exchanged for an access token', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source({ ...me, identityToken: 'id&entity' }) });
  fake.setTag('team/app', '1', digest);
  fake.requireBearer({ user: 'nobody', identityToken: 'id&entity' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  assert.deepEqual(asked(fake), ['GET /v2/', 'POST /token', head]);
  assert.equal(new URLSearchParams(fake.requests[1]?.body).get('scope'), 'repository:team/app:pull');
});

test('the scope of a challenge for metadata_read, as of Azure, is requested, and at once the next time', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source(me) });
  fake.setTag('team/app', '1', digest);
  fake.setTag('team/other', '1', digest);
  const scopeFor = (kind: string, path: string) => `repository:${path}:${kind === 'tags' ? 'metadata_read' : 'pull'}`;
  fake.requireBearer({ user: 'me', password: 'secret', scopeFor });
  assert.deepEqual(await client.listTags(repository), ['1']);
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  fake.requests.length = 0;
  assert.deepEqual(await client.listTags({ ...repository, path: 'team/other' }), ['1']);
  assert.equal((await client.headManifest({ ...repository, path: 'team/other' }, '1'))?.digest, digest);
  assert.deepEqual(asked(fake), [token, 'GET /v2/team/other/tags/list', token, 'HEAD /v2/team/other/manifests/1']);
  fake.requests.length = 0;
  await client.listTags(repository);
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake), ['GET /v2/team/app/tags/list', head]);
});

for (const [name, scopeFor] of [
  ['a longer name of the repository', (_: string, path: string) => `repository:docker-local/${path}:pull`],
  ['a scope of its own', () => 'aws'],
] as const) {
  test(`the scope of a challenge with ${name} is requested`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.setTag('team/app', '1', digest);
    fake.requireBearer({ scopeFor });
    assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  });
}

for (const [asks, scope] of [
  ['to push', 'repository:team/app:pull,push,delete'],
  ['for another repository', 'repository:team/secret:pull'],
  ['for the catalogue', 'registry:catalog:*'],
  ['for something odd', 'a b'],
] as const) {
  test(`only the needed scope is requested if a challenge asks ${asks}`, async (t) => {
    const { fake, client, repository } = await startWorld(t, { credentials: source(me) });
    fake.setTag('team/app', '1', digest);
    fake.requireBearer({ user: 'me', password: 'secret', scopeFor: () => scope });
    await assert.rejects(client.headManifest(repository, '1'), { reason: 'RegistryDenied' });
    const scopes = fake.requests.flatMap(({ path }) => new URL(path, 'http://fake').searchParams.getAll('scope'));
    assert.deepEqual([...new Set(scopes)], ['repository:team/app:pull']);
  });
}

for (const status of [404, 405]) {
  test(`an identity token that the token server rejects by POST (${status}) is sent by GET`, async (t) => {
    const { fake, client, repository } = await startWorld(t, {
      credentials: source({ username: 'me', password: '', identityToken: 'id' }),
    });
    fake.setTag('team/app', '1', digest);
    fake.requireBearer({ user: 'me', password: 'id' });
    fake.answerNext({ status }, { method: 'POST' });
    assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
    assert.deepEqual(asked(fake), ['GET /v2/', 'POST /token', token, head]);
    assert.equal(fake.requests[2]?.path, '/token?service=fake&scope=repository%3Ateam%2Fapp%3Apull');
  });
}

test('an identity token that the token server replaces is used from then on for all repositories', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source({ ...me, identityToken: 'id' }) });
  const paths = ['team/app', 'team/two', 'team/three'];
  for (const path of paths) fake.setTag(path, '1', digest);
  fake.requireBearer({ user: 'nobody', identityToken: 'id', rotates: true });
  for (const path of paths) assert.equal((await client.headManifest({ ...repository, path }, '1'))?.digest, digest);
  const sent = fake.requests.flatMap(({ method, body }) => (method === 'POST' ? [new URLSearchParams(body).get('refresh_token')] : []));
  assert.deepEqual(sent, ['id', "id'", "id''"]);
});

test('tokens for several repositories can be obtained while the identity token is replaced', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source({ ...me, identityToken: 'id' }) });
  const paths = Array.from({ length: 8 }, (_, index) => `team/app-${index}`);
  for (const path of paths) fake.setTag(path, '1', digest);
  fake.requireBearer({ user: 'nobody', identityToken: 'id', rotates: true });
  const heads = await Promise.all(paths.map(async (path) => client.headManifest({ ...repository, path }, '1')));
  assert.ok(heads.every((found) => found?.digest === digest));
});

test('when the replaced identity token is refused, that of the credential is tried', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source({ ...me, identityToken: 'id' }) });
  fake.setTag('team/app', '1', digest);
  fake.setTag('team/two', '1', digest);
  fake.requireBearer({ user: 'nobody', identityToken: 'id', rotates: true });
  await client.headManifest(repository, '1');
  fake.requireBearer({ user: 'nobody', identityToken: 'id' });
  assert.equal((await client.headManifest({ ...repository, path: 'team/two' }, '1'))?.digest, digest);
});

test('a registry that hides private repositories behind 404 is asked for its challenge first', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source(me) });
  fake.setTag('team/app', '1', digest);
  fake.requireBasic({ user: 'me', password: 'secret' });
  fake.answerNext(({ authorization }) => (authorization === undefined ? { status: 404 } : undefined), { path: '/v2/team/', times: 99 });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
});

test('a registry without authentication is asked for its challenge only once', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source(me) });
  fake.setTag('team/app', '1', digest);
  await client.headManifest(repository, '1');
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake), ['GET /v2/', head, head]);
  assert.ok(fake.requests.every(({ authorization }) => authorization === undefined));
});

test("403 with the same credential is permanent, with the registry's message", async (t) => {
  const credentials = source(me);
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.requireBearer();
  const body = JSON.stringify({ errors: [{ code: 'DENIED', message: 'requested access is denied' }] });
  fake.answerNext({ status: 403, body }, { path: '/v2/team/app/tags', times: 99 });
  await assert.rejects(client.listTags(repository), (error) => {
    assert.ok(error instanceof PermanentError && error.reason === 'RegistryDenied');
    assert.match(
      error.message,
      /^listing tags of .* gives no access: Secret shop\/creds \(user me\) was refused with 403 \(DENIED: requested access is denied\); anonymous/,
    );
    return true;
  });
  assert.equal(credentials.refreshes, 1);
});

test('a refusal of the token server is permanent, and the message says why there was no credential', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source(undefined) });
  fake.requireBearer({ user: 'me', password: 'secret' });
  await assert.rejects(client.headManifest(repository, '1'), (error) => {
    assert.ok(error instanceof PermanentError && error.reason === 'RegistryDenied');
    assert.match(
      error.message,
      /gives no access: Secret shop\/creds does not exist; anonymous access was refused by the token server\. To do: if .*team\/app exists/,
    );
    return true;
  });
  assert.deepEqual(asked(fake), [head, token]);
});

const badTokens: [name: string, answer: { status?: number; body?: string; headers?: Record<string, string> }, expected: RegExp][] = [
  ['answers 500', { status: 500 }, /^fetching a token for .*team\/app: registry answered 500$/],
  ['answers no JSON', { body: '{"token":"abc' }, /: the answer is not valid JSON$/],
  ['answers no token', { body: '{}' }, /: the answer holds no token$/],
  ['answers a token with a line break', { body: JSON.stringify({ token: 'a\r\nx: y' }) }, /: the answer holds no token$/],
  ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, /: registry answered 302$/],
];
for (const [name, answer, expected] of badTokens) {
  test(`a token server that ${name} is a retryable error`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.requireBearer();
    fake.answerNext(answer, { path: '/token' });
    await assert.rejects(client.headManifest(repository, '1'), (error: Error) => error.name === 'Error' && expected.test(error.message));
  });
}

test('a token server that throttles is waited for', async (t) => {
  const { fake, client, repository } = await startWorld(t, { now: () => 1_000 });
  fake.requireBearer();
  fake.answerNext({ status: 429, headers: { 'retry-after': '30' } }, { path: '/token' });
  await assert.rejects(client.headManifest(repository, '1'), (error) => error instanceof WaitError && error.until.getTime() === 31_000);
});

test('an unknown challenge is handled as a refusal', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: source(me) });
  fake.answerNext({ status: 401, headers: { 'www-authenticate': 'Negotiate' } }, { times: 99 });
  await assert.rejects(client.headManifest(repository, '1'), { reason: 'RegistryDenied' });
  assert.deepEqual(asked(fake), ['GET /v2/', head, head]);
});
