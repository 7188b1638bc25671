/** Tokens that the registry no longer accepts, and repositories of one registry with different token servers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fakeDigest, type FakeRegistry } from '../../harness/fake-registry.ts';
import { asked, offering, startWorld } from './start-world.ts';

const digest = fakeDigest('a');
const list = 'GET /v2/team/app/tags/list';
const head = 'HEAD /v2/team/app/manifests/1';
const token = 'GET /token';

/** Answers this status to the first token, as registries do that have forgotten it. */
function forgetFirstToken(fake: FakeRegistry, status: number): void {
  fake.answerNext(({ authorization }) => (authorization === 'Bearer token-1' ? { status } : undefined), { path: '/v2/team/', times: 9 });
}

for (const status of [400, 401, 403, 404, 405, 410]) {
  test(`a list that is answered ${status} with a cached token is requested with a new token`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.setTag('team/app', '1', digest);
    fake.requireBearer();
    await client.listTags(repository);
    fake.requests.length = 0;
    forgetFirstToken(fake, status);
    assert.deepEqual(await client.listTags(repository), ['1']);
    assert.deepEqual(asked(fake), [list, token, list]);
    fake.requests.length = 0;
    assert.deepEqual(await client.listTags(repository), ['1']);
    assert.deepEqual(asked(fake), [list]);
  });
}

test('a manifest that is answered 400 with a cached token is requested with a new token', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', digest);
  fake.requireBearer();
  await client.headManifest(repository, '1');
  forgetFirstToken(fake, 400);
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
});

test('a missing manifest, and a registry that throttles or fails, cause no request for a new token', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', digest);
  fake.requireBearer();
  await client.headManifest(repository, '1');
  fake.requests.length = 0;
  for (const status of [404, 500, 429]) {
    fake.answerNext({ status }, { path: '/v2/team/' });
    await client.headManifest(repository, '1').catch(() => undefined);
  }
  assert.deepEqual(asked(fake), [head, head, head]);
});

test('400 with a new token is final, after two requests at most', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.requireBearer();
  const isWithToken = { path: '/v2/team/', times: 9 };
  fake.answerNext(({ authorization }) => (authorization === undefined ? undefined : { status: 400 }), isWithToken);
  await assert.rejects(client.listTags(repository), /registry answered 400/);
  assert.deepEqual(asked(fake), [list, token, list]);
  fake.requests.length = 0;
  await assert.rejects(client.listTags(repository), /registry answered 400/);
  assert.deepEqual(asked(fake), [list, token, list]);
});

/** Lets the repository `team/other` have a token server of its own, which accepts only this user. */
function separate(fake: FakeRegistry, user?: { username: string; password: string }): void {
  const headers = {
    'www-authenticate': `Bearer realm="http://${fake.host}/other-token",service="other",scope="repository:team/other:pull"`,
  };
  const isRight = (authorization?: string) => authorization === 'Bearer other-1';
  fake.answerNext(
    ({ authorization }) => (isRight(authorization) ? { headers: { 'docker-content-digest': digest } } : { status: 401, headers }),
    {
      path: '/v2/team/other/',
      times: 99,
    },
  );
  const basic = user && `Basic ${btoa(`${user.username}:${user.password}`)}`;
  fake.answerNext(({ authorization }) => (authorization === basic ? { body: '{"token":"other-1"}' } : { status: 401 }), {
    path: '/other-token',
    times: 99,
  });
}

const me = { username: 'me', password: 'secret' };

for (const status of [400, 404, 500])
  test(`after a token server answers ${status} for a repository that it does not know, the one of the challenge is asked`, async (t) => {
    const { fake, client, repository } = await startWorld(t, { credentials: offering(me) });
    fake.requireBearer({ user: me.username, password: me.password });
    separate(fake, me);
    fake.answerNext(() => ({ status }), { path: '/token', times: 99 });
    const other = { ...repository, path: 'team/other' };
    for (let round = 0; round < 2; round++) assert.equal((await client.headManifest(other, '1'))?.digest, digest);
  });

for (const [name, own] of [
  ['everybody', undefined],
  ['the same user', me],
  ['another user', { username: 'you', password: 'other' }],
] as const) {
  test(`two repositories of one registry have a token server each, the second one for ${name}`, async (t) => {
    const first = own === undefined ? undefined : me;
    const { fake, client, repository } = await startWorld(t, {
      credentials: (source) => offering(source.path === 'team/other' ? own : first)(source),
    });
    fake.setTag('team/app', '1', digest);
    fake.requireBearer(first === undefined ? {} : { user: first.username, password: first.password });
    separate(fake, own);
    const other = { ...repository, path: 'team/other' };
    for (let round = 0; round < 2; round++) {
      assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
      assert.equal((await client.headManifest(other, '1'))?.digest, digest);
      assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
    }
    // Each token server is remembered: no request is refused any more, and no token is requested again.
    fake.requests.length = 0;
    await client.headManifest(repository, '1');
    await client.headManifest(other, '1');
    assert.deepEqual(asked(fake), [head, 'HEAD /v2/team/other/manifests/1']);
  });
}
