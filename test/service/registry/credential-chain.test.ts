/** Which of several credentials is used, and what is said when none is accepted. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { RegistryClientOptions } from '../../../src/service/registry/client.ts';
import {
  basicAuthorization,
  type Credential,
  type CredentialOffer,
  type CredentialSource,
  type NoCredential,
} from '../../../src/service/registry/credential.ts';
import { fakeDigest } from '../../harness/fake-registry.ts';
import { asked, startWorld } from './start-world.ts';

const head = 'HEAD /v2/team/app/manifests/1';
const list = 'GET /v2/team/app/tags/list';
const wrong: Credential = { username: 'me', password: 'wrong' };
const right: Credential = { username: 'me', password: 'secret' };
const digest = fakeDigest('a');

/** Offers A, B, C … of these; what was read of them is noted. */
function offers(...answers: (Credential | NoCredential | Error)[]): CredentialSource & { reads: string[] } {
  const reads: string[] = [];
  const list = answers.map((answer, index): CredentialOffer => {
    const source = `Secret ${'ABCDEF'[index]}`;
    const read: CredentialOffer['read'] = async ({ refresh }) => {
      reads.push(`${source.slice(-1)}${refresh ? ' again' : ''}`);
      if (answer instanceof Error) throw answer;
      return answer;
    };
    return { source, isOwn: true, read };
  });
  return Object.assign(() => list, { reads });
}

test('a refused credential is followed by the next, and the one that worked is the only one tried from then on', async (t) => {
  const credentials = offers({ why: 'has no entry' }, wrong, right, wrong);
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.setTag('team/app', '1', digest);
  fake.requireBasic({ user: 'me', password: 'secret' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  assert.deepEqual(asked(fake), ['GET /v2/', head, head]);
  assert.deepEqual(credentials.reads, ['A', 'B', 'B again', 'C']);
  fake.requests.length = 0;
  credentials.reads.length = 0;
  await client.headManifest(repository, '1');
  assert.deepEqual([asked(fake), credentials.reads], [[head], ['C']]);
});

test('a credential that the token server refuses is followed by the next as well', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: offers(wrong, right) });
  fake.setTag('team/app', '1', digest);
  fake.requireBearer({ user: 'me', password: 'secret' });
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake), ['GET /v2/', 'GET /token', head, 'GET /token', head]);
  fake.requests.length = 0;
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake), [head]);
});

test('the credential that worked is remembered for each repository and access', async (t) => {
  const credentials = offers(wrong, right);
  const { fake, client, repository } = await startWorld(t, { credentials });
  for (const path of ['team/app', 'team/other']) fake.setTag(path, '1', digest);
  fake.requireBasic({ user: 'me', password: 'secret' });
  await client.headManifest(repository, '1');
  credentials.reads.length = 0;
  await client.headManifest({ ...repository, path: 'team/other' }, '1');
  await client.headManifest({ ...repository, access: { secrets: [{ namespace: 'shop', name: 'a', namedBy: 'policy' }] } }, '1');
  assert.deepEqual(credentials.reads, ['A', 'A again', 'B', 'A', 'A again', 'B']);
});

test('a credential that worked and is refused now is followed by the others', async (t) => {
  const credentials = offers({ username: 'one', password: '1' }, { username: 'two', password: '2' });
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.setTag('team/app', '1', digest);
  fake.requireBasic({ user: 'two', password: '2' });
  await client.headManifest(repository, '1');
  fake.requireBasic({ user: 'one', password: '1' });
  credentials.reads.length = 0;
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  assert.deepEqual(credentials.reads, ['B', 'B again', 'A']);
});

test('a public image is read anonymously when all credentials are refused, and at once the next time', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: offers(wrong) });
  fake.setTag('team/app', '1', digest);
  fake.answerNext(({ authorization }) => (authorization?.startsWith('Basic') ? { status: 401 } : undefined), { path: '/token', times: 9 });
  fake.requireBearer();
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  fake.requests.length = 0;
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake), [head]);
});

test('a public image is read with a credential as soon as there is one', async (t) => {
  let found: Credential | NoCredential = { why: 'does not exist' };
  const credentials = () => [{ source: 'Secret A', read: async () => found }];
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.setTag('team/app', '1', digest);
  fake.requireBearer();
  await client.headManifest(repository, '1');
  found = right;
  fake.requests.length = 0;
  await client.headManifest(repository, '1');
  assert.deepEqual(asked(fake), ['GET /token', head]);
  assert.equal(fake.requests[0]?.authorization, `Basic ${btoa('me:secret')}`);
});

test('the message of a refusal lists every candidate with its reason, and no password', async (t) => {
  const credentials = offers({ why: 'does not exist' }, { ...wrong, username: 'robot' }, { why: 'has no entry for r.example.com' });
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.requireBasic({ user: 'me', password: 'secret' });
  const { host } = fake;
  const refused = 'refused with 401';
  await assert.rejects(client.headManifest(repository, '1'), {
    name: 'PermanentError',
    reason: 'RegistryDenied',
    message:
      `HEAD manifest of ${host}/team/app:1: ${host} gives no access: Secret A does not exist; Secret B (user robot) was ${refused}; ` +
      `Secret C has no entry for r.example.com; anonymous access was ${refused}. ` +
      `To do: check that the credentials are right and may pull ${host}/team/app`,
  });
  assert.deepEqual(credentials.reads, ['A', 'B', 'B again', 'C', 'A again', 'C again']);
});

test("the status does not name credentials of others, and the operator's log names all that were tried", async (t) => {
  const service = [
    { source: 'Secret operators/fallback', read: async () => ({ username: 'robot$admin', password: 'geheim' }) },
    {
      source: 'Secret operators/other',
      read: async () => ({ why: 'has no entry for r.example.com, and the entry "internal.example.com" is odd' }),
    },
  ];
  const details: string[] = [];
  const { fake, client, repository } = await startWorld(t, {
    credentials: () => service,
    onHostEvent: (event) => event.kind === 'details' && details.push(event.why),
  });
  fake.requireBasic({ user: 'me', password: 'secret' });
  await assert.rejects(client.headManifest(repository, '1'), (error: Error) => {
    assert.match(
      error.message,
      /gives no access: Secret operators\/fallback was refused with 401; Secret operators\/other has none for it; anonymous/,
    );
    assert.doesNotMatch(error.message, /robot|internal|geheim/);
    return true;
  });
  assert.match(details.join(), /Secret operators\/fallback \(user robot\$admin\) was refused .*"internal\.example\.com" is odd/);
  assert.doesNotMatch(details.join(), /geheim/);
});

test('the message of a refusal is bounded, however many candidates there are', async (t) => {
  const many = Array.from({ length: 40 }, (_, index) => ({
    source: `Secret s${index}`,
    isOwn: true,
    read: async () => ({ why: 'does not exist' }),
  }));
  const { fake, client, repository } = await startWorld(t, { credentials: () => many });
  fake.requireBasic({ user: 'me', password: 'secret' });
  await assert.rejects(client.headManifest(repository, '1'), /Secret s11 does not exist; and 29 more\. To do/);
});

test('404 is not final while there is another credential to try, because registries hide private repositories', async (t) => {
  const credentials = offers({ username: 'guest', password: 'x' }, right);
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.setTag('team/app', '1', digest);
  fake.requireBasic({ user: 'me', password: 'secret' });
  const guest = `Basic ${btoa('guest:x')}`;
  fake.answerNext(({ authorization }) => (authorization === guest ? { status: 404 } : undefined), { path: '/v2/team/', times: 99 });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  fake.requests.length = 0;
  assert.equal(await client.headManifest(repository, '2'), undefined);
  assert.deepEqual(asked(fake), ['HEAD /v2/team/app/manifests/2'], 'what worked before is believed');
});

/** A registry that knew the credential of Secret B, and hides the repository from it since that of Secret A was mended. */
async function startMended(t: TestContext, options: Partial<RegistryClientOptions> = {}) {
  const guest: Credential = { username: 'guest', password: 'x' };
  let mended = wrong;
  const credentials = () => [
    { source: 'Secret A', read: async () => mended },
    { source: 'Secret B', read: async () => guest },
  ];
  const { fake, client, repository } = await startWorld(t, { credentials, ...options });
  fake.setTag('team/app', '1', digest);
  fake.requireBasic({ user: 'guest', password: 'x' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  mended = right;
  fake.requireBasic({ user: 'me', password: 'secret' });
  const hiddenFrom = basicAuthorization(guest);
  fake.answerNext(({ authorization }) => (authorization === hiddenFrom ? { status: 404 } : undefined), { path: '/v2/team/', times: 99 });
  fake.requests.length = 0;
  return { fake, client, repository };
}

test('404 with a credential that worked is not final when a Secret has changed', async (t) => {
  let version = '1';
  const { client, repository } = await startMended(t, { credentialVersions: () => version });
  assert.equal(await client.headManifest(repository, '1'), undefined);
  version = '2';
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
});

test('a missing list of tags is retried with other credentials, and the one that finds it is tried first from then on', async (t) => {
  const { fake, client, repository } = await startMended(t);
  assert.deepEqual(await client.listTags(repository), ['1']);
  assert.deepEqual(asked(fake), [list, list]);
  fake.requests.length = 0;
  assert.deepEqual(await client.listTags(repository), ['1']);
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  assert.deepEqual(asked(fake), [list, head]);
});

test('404 with all credentials is 404', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: offers(right, right) });
  fake.requireBasic({ user: 'me', password: 'secret' });
  assert.equal(await client.headManifest(repository, '1'), undefined);
  assert.deepEqual(asked(fake), ['GET /v2/', head, head]);
});

test('a credential that cannot be read is skipped if another one works', async (t) => {
  const { fake, client, repository } = await startWorld(t, { credentials: offers(new Error('connection refused'), right) });
  fake.setTag('team/app', '1', digest);
  fake.requireBasic({ user: 'me', password: 'secret' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
});

for (const [answer, prepare] of [
  ['401', true],
  ['404', false],
] as const) {
  test(`a credential that cannot be read makes ${answer} retryable`, async (t) => {
    const { fake, client, repository } = await startWorld(t, { credentials: offers(new Error('connection refused')) });
    if (prepare) fake.requireBasic({ user: 'me', password: 'secret' });
    await assert.rejects(client.headManifest(repository, '1'), {
      name: 'Error',
      message: `HEAD manifest of ${fake.host}/team/app:1: cannot read the credentials of Secret A`,
    });
  });
}

test('a refresh token that is refused with 400, as in OAuth2, is followed by the next credential', async (t) => {
  const credentials = offers({ username: '', password: '', identityToken: 'old' }, right);
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.setTag('team/app', '1', digest);
  fake.requireBearer({ user: 'me', password: 'secret' });
  fake.answerNext({ status: 400, body: '{"error":"invalid_grant"}' }, { method: 'POST', path: '/token' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
});

test('all credentials of a Secret are tried before the next Secret, and the one that worked is the only one afterwards', async (t) => {
  const credentials = offers({ ...wrong, others: [{ username: 'robot', password: 'x' }, right] }, wrong);
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.setTag('team/app', '1', digest);
  fake.requireBasic({ user: 'me', password: 'secret' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  assert.deepEqual(asked(fake), ['GET /v2/', head, head, head]);
  assert.deepEqual(credentials.reads, ['A']);
  fake.requests.length = 0;
  await client.headManifest(repository, '1');
  assert.deepEqual([asked(fake), credentials.reads], [[head], ['A', 'A']]);
});

test('404 for one credential of a Secret is not final before its others were tried, and the answer of one that works counts', async (t) => {
  const guest: Credential = { username: 'guest', password: 'x' };
  const { fake, client, repository } = await startWorld(t, { credentials: offers({ ...guest, others: [right] }) });
  fake.setTag('team/app', '1', digest);
  fake.requireBasic({ user: 'me', password: 'secret' });
  const hiddenFrom = basicAuthorization(guest);
  fake.answerNext(({ authorization }) => (authorization === hiddenFrom ? { status: 404 } : undefined), { path: '/v2/team/', times: 99 });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
  fake.requests.length = 0;
  assert.equal(await client.headManifest(repository, '2'), undefined);
  assert.deepEqual(asked(fake), ['HEAD /v2/team/app/manifests/2']);
});

test('each refused credential of a Secret is listed and tried once', async (t) => {
  const credentials = offers({ ...wrong, username: 'a', others: [{ ...wrong, username: 'b' }] });
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.requireBasic({ user: 'me', password: 'secret' });
  await assert.rejects(
    client.headManifest(repository, '1'),
    /: Secret A \(user a\) was refused with 401; Secret A \(user b\) was refused with 401; anon/,
  );
  assert.deepEqual(asked(fake), ['GET /v2/', head, head, head]);
  assert.deepEqual(credentials.reads, ['A', 'A again']);
});

test('a registry token is sent unchanged, and only to the registry', async (t) => {
  const credentials = offers({ username: '<registrytoken>', password: '', registryToken: 'token-1' });
  const { fake, client, repository } = await startWorld(t, { credentials });
  fake.setTag('team/app', '1', digest);
  fake.requireBearer();
  await client.headManifest({ ...repository, path: 'nothing' }, '1').catch(() => {});
  fake.requests.length = 0;
  const { client: otherClient } = await startWorld(t, { credentials, registries: [{ host: fake.host, insecure: true }] });
  assert.equal((await otherClient.headManifest(repository, '1'))?.digest, digest);
  assert.deepEqual(
    fake.requests.map(({ method, authorization }) => [method, authorization]),
    [['HEAD', 'Bearer token-1']],
  );
});
