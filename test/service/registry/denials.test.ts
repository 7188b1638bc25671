/** What a registry refuses is not asked for again at once on behalf of those who heard nothing new. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import type { ImageSource } from '../../../src/core/model/image-source.ts';
import { fakeDigest } from '../../harness/fake-registry.ts';
import { asked, offering, startWorld } from './start-world.ts';

const head = 'HEAD /v2/team/app/manifests/1';
const list = 'GET /v2/team/app/tags/list';

/** A registry that refuses until it is told not to, and a clock that is moved by hand: in seconds. */
async function start(t: TestContext) {
  const state = { now: 0, isRefusing: true, versions: 'a' };
  const { fake, client, repository } = await startWorld(t, {
    now: () => state.now * 1_000,
    credentials: offering({ username: 'robot', password: 'wrong' }),
    credentialVersions: () => state.versions,
  });
  fake.setTag('team/app', '1', fakeDigest('a'));
  fake.answerNext((request) => (state.isRefusing && request.path !== '/v2/' ? { status: 401 } : undefined), { times: 1_000_000 });
  const refusals = async (ask: () => Promise<unknown>) => {
    const before = fake.requests.length;
    const retryAt = await ask().then(
      () => undefined,
      (error: unknown) => {
        assert.ok(error instanceof PermanentError && error.reason === 'RegistryDenied', String(error));
        assert.match(error.message, /Secret shop\/creds \(user robot\) was refused with 401; anonymous access was refused/);
        return (error.retryAt?.getTime() ?? Number.NaN) / 1_000;
      },
    );
    return { retryAt, isAsked: fake.requests.length > before };
  };
  /** A HEAD on behalf of who heard of a reason at that time: whether the registry was asked, and when to try again. */
  const pull = (heard?: number, source: ImageSource = repository) =>
    refusals(() => client.headManifest({ ...source, ...(heard !== undefined && { causedAt: heard * 1_000 }) }, '1'));
  const tags = (heard: number) => refusals(() => client.listTags({ ...repository, causedAt: heard * 1_000 }));
  return { state, fake, pull, tags, repository };
}

test('the delays after refusals grow from five seconds to half an hour, and a successful answer ends them', async (t) => {
  const { state, pull } = await start(t);
  const pauses: number[] = [];
  for (let tries = 0; tries < 14; tries++) {
    const { retryAt = assert.fail('not refused'), isAsked } = await pull(0);
    assert.ok(isAsked);
    pauses.push(retryAt - state.now);
    state.now = retryAt - 0.001;
    assert.deepEqual(await pull(0), { retryAt, isAsked: false }, 'the pause is not over');
    state.now = retryAt;
  }
  assert.deepEqual(pauses, [5, 5, 10, 20, 40, 80, 160, 320, 640, 1_280, 1_800, 1_800, 1_800, 1_800]);
  state.isRefusing = false;
  assert.deepEqual(await pull(0), { retryAt: undefined, isAsked: true });
  state.isRefusing = true;
  assert.deepEqual(await pull(0), { retryAt: state.now + 5, isAsked: true });
});

test('a caller with newer credentials is refused a request at most every five seconds, and one without a version never', async (t) => {
  const { state, pull } = await start(t);
  for (const now of [0, 5, 10, 20]) {
    state.now = now;
    await pull(0);
  }
  state.now = 22;
  assert.deepEqual(await pull(21), { retryAt: 25, isAsked: false });
  assert.deepEqual(await pull(), { retryAt: 44, isAsked: true });
  state.now = 27;
  assert.deepEqual(await pull(26), { retryAt: 54, isAsked: true });
  assert.deepEqual(await pull(0), { retryAt: 54, isAsked: false });
});

test('after a refusal only one caller asks the registry at a time', async (t) => {
  const { state, pull, fake } = await start(t);
  await pull(0);
  state.now = 5;
  const before = fake.requests.length;
  const answers = await Promise.all(Array.from({ length: 20 }, () => pull(0)));
  assert.equal(
    asked(fake)
      .slice(before)
      .filter((request) => request === head).length,
    2,
    'with the credential, and without',
  );
  assert.deepEqual(new Set(answers.map(({ retryAt }) => retryAt)), new Set([10]));
});

test('other credentials, versions and repositories are denied separately, and so are lists', async (t) => {
  const { state, pull, tags, fake, repository } = await start(t);
  await pull(0);
  const secrets = [{ namespace: 'shop', name: 'other', namedBy: 'policy' }] as const;
  assert.equal((await pull(0, { ...repository, access: { secrets } })).isAsked, true);
  assert.equal((await pull(0, { ...repository, path: 'team/other' })).isAsked, true);
  assert.equal((await tags(0)).isAsked, true);
  assert.ok(asked(fake).includes(list));
  assert.equal((await pull(0)).isAsked, false);
  state.versions = 'b';
  assert.equal((await pull(0)).isAsked, true);
});

test('an old refusal does not lengthen the delays of the next outage', async (t) => {
  const { state, pull } = await start(t);
  for (const now of [0, 5, 10, 20]) {
    state.now = now;
    await pull(0);
  }
  state.now = 200;
  assert.deepEqual(await pull(199), { retryAt: 205, isAsked: true });
});
