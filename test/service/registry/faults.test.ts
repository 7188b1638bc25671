/** Every way in which a registry fails, for everything that is asked of it: what happens next, and in which words. */
import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { test } from 'node:test';
import { PermanentError, WaitError } from '../../../src/core/model/errors.ts';
import type { ImageSource } from '../../../src/core/model/image-source.ts';
import type { RegistryClient } from '../../../src/service/registry/client.ts';
import { type FakeAnswer, fakeDigest, type FakeRegistry, startFakeRegistry } from '../../harness/fake-registry.ts';
import { offering, asked, startWorld } from './start-world.ts';

const path = 'team/app';
const manifest = JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json' });
const referrer = { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest: fakeDigest('b'), size: 1, artifactType: 'a/b' };

type Question = { ask: (client: RegistryClient, source: ImageSource, digest: string) => Promise<unknown>; what: RegExp };
const questions: Record<string, Question> = {
  'a manifest by its tag': { ask: (client, source) => client.readManifest(source, '1'), what: /^GET manifest of .*\/team\/app:1: / },
  'a manifest by its digest': {
    ask: (client, source, digest) => client.readManifest(source, digest),
    what: /^GET manifest of .*\/team\/app@sha256:/,
  },
  'an image': { ask: (client, source, digest) => client.readImage(source, digest), what: /^GET manifest of / },
  'a blob': { ask: (client, source, digest) => client.readBlob(source, digest, 1_000_000), what: /^GET blob .*\/team\/app@sha256:/ },
  referrers: { ask: (client, source, digest) => client.listReferrers(source, digest), what: /^listing referrers of .*\/team\/app@sha256:/ },
  'a list of tags': { ask: (client, source) => client.listTags(source), what: /^listing tags of .*\/team\/app: / },
};

type Ending = 'retry' | 'wait';
const faults: [name: string, answer: FakeAnswer, ending: Ending, message: RegExp][] = [
  [
    '500',
    { status: 500, body: '{"errors":[{"code":"UNKNOWN","message":"disk full"}]}' },
    'retry',
    /registry answered 500 \(UNKNOWN: disk full\)$/,
  ],
  ['502 with a page', { status: 502, body: `<html>${'x'.repeat(100_000)}` }, 'retry', /registry answered 502$/],
  ['503 without Retry-After', { status: 503 }, 'retry', /registry answered 503$/],
  [
    '503 with Retry-After',
    { status: 503, headers: { 'retry-after': '7' } },
    'wait',
    /answered 503, and the request is repeated at 2026-01-01T00:00:07\.000Z$/,
  ],
  [
    '429 with Retry-After',
    { status: 429, headers: { 'retry-after': '7' } },
    'wait',
    /answered 429, and the request is repeated at 2026-01-01T00:00:07\.000Z$/,
  ],
  ['429 without Retry-After', { status: 429 }, 'wait', /answered 429, and the request is repeated at 2026-01-01T00:00:01\.000Z$/],
  [
    'a reset',
    { destroy: true },
    'retry',
    /cannot connect to 127\.0\.0\.1:\d+: the connection was closed before an answer came \((?:UND_ERR_SOCKET|ECONNRESET)\); check the port/,
  ],
  ['half of a body', { cut: true, body: manifest }, 'retry', /cannot connect to 127\.0\.0\.1:\d+/],
  ['a body that does not end', { stall: true, body: '{' }, 'retry', /no answer from 127\.0\.0\.1:\d+ within 100 ms; check the host/],
  ['nothing at all', { after: new Promise(() => {}) }, 'retry', /no answer from 127\.0\.0\.1:\d+ within 100 ms; check the host/],
  ['another status', { status: 204 }, 'retry', /registry answered 204$/],
];

for (const [question, { ask, what }] of Object.entries(questions)) {
  for (const [name, answer, ending, message] of faults) {
    test(`${question}, answered with ${name}, ends as "${ending}"`, async (t) => {
      const timeoutMs = answer.stall || answer.after ? 100 : 60_000;
      const { fake, client, repository } = await startWorld(t, { now: () => Date.UTC(2026, 0, 1), timeoutMs });
      fake.answerNext(answer, { times: 2 });
      await assert.rejects(ask(client, repository, fakeDigest('a')), (error: Error) => {
        assert.match(error.message, what);
        assert.match(error.message, message);
        assert.equal(error instanceof WaitError ? 'wait' : error.name, ending === 'wait' ? 'wait' : 'Error');
        return true;
      });
    });
  }
}

const wrongBytes: [question: keyof typeof questions, answer: FakeAnswer, message: RegExp][] = [
  ['a manifest by its digest', { body: manifest }, /the digest is sha256:a+, but that of the received bytes is sha256:/],
  [
    'a manifest by its digest',
    { headers: { 'docker-content-digest': fakeDigest('a') }, body: manifest },
    /but that of the received bytes is sha256:/,
  ],
  [
    'a manifest by its tag',
    { headers: { 'docker-content-digest': fakeDigest('a') }, body: manifest },
    /but that of the received bytes is sha256:/,
  ],
  ['a manifest by its tag', { body: manifest.slice(0, -1) }, /the answer is not a manifest$/],
  ['a manifest by its tag', { body: '{"schemaVersion":1}' }, /the answer is not a manifest$/],
  ['an image', { body: manifest }, /but that of the received bytes is sha256:/],
  ['a blob', { body: 'other bytes' }, /the digest is sha256:a+, but that of the received bytes is sha256:/],
  ['a blob', { body: 'x'.repeat(1_000_001) }, /the answer is larger than 1000000 bytes$/],
  [
    'referrers',
    { headers: { 'content-type': 'application/vnd.oci.image.index.v1+json' }, body: '{"schemaVersion":2' },
    /the answer is not an index$/,
  ],
  ['a list of tags', { body: '{"tags":["a"' }, /the answer is not valid JSON$/],
];
for (const [question, answer, message] of wrongBytes) {
  test(`${question}, answered with ${JSON.stringify(answer).slice(0, 60)}, is retried`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.answerNext(answer);
    await assert.rejects(async () => questions[question]?.ask(client, repository, fakeDigest('a')), { name: 'Error', message });
  });
}

test('an endless list of referrers is cut off', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  let page = 0;
  fake.answerNext(
    () => ({
      headers: { 'content-type': 'application/vnd.oci.image.index.v1+json', link: `<?page=${page++}>; rel="next"` },
      body: '{"schemaVersion":2,"manifests":[]}',
    }),
    { times: 100 },
  );
  await assert.rejects(client.listReferrers(repository, fakeDigest('a')), { name: 'Error', message: /more than 20 pages$/ });
});

const unsupported: [name: string, answer: FakeAnswer][] = [
  ['404', { status: 404, body: '404 page not found' }],
  ['400', { status: 400 }],
  ['405', { status: 405 }],
  ['a page for everything that it does not know', { headers: { 'content-type': 'text/html' }, body: '<html>' }],
];
for (const [name, answer] of unsupported) {
  test(`a registry without a list of referrers (${name}) may have one under a tag`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.answerNext(answer, { path: '/v2/team/app/referrers/', times: 3 });
    const digest = fakeDigest('a');
    assert.deepEqual(await client.listReferrers(repository, digest), []);
    fake.setManifest(path, digest.replace(':', '-'), JSON.stringify({ schemaVersion: 2, manifests: [referrer] }));
    assert.deepEqual(await client.listReferrers(repository, digest, 'a/b'), [referrer]);
    assert.deepEqual(await client.listReferrers(repository, digest, 'other'), []);
  });
}

test('referrers are read page by page, and filtered where the registry does not', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const otherReferrer = { ...referrer, digest: fakeDigest('c'), artifactType: 'other' };
  const page = (manifests: unknown[], headers = {}) => ({
    headers: { 'content-type': 'application/vnd.oci.image.index.v1+json', ...headers },
    body: JSON.stringify({ schemaVersion: 2, manifests }),
  });
  fake.answerNext(page([otherReferrer, { digest: 'no digest' }, 7], { link: '<?page=2>; rel="next"' }));
  fake.answerNext(page([referrer]));
  assert.deepEqual(await client.listReferrers(repository, fakeDigest('a'), 'a/b'), [referrer]);
  const url = `/v2/team/app/referrers/${fakeDigest('a')}`;
  assert.deepEqual(
    fake.requests.map(({ path }) => path),
    [`${url}?artifactType=a%2Fb`, `${url}?page=2`],
  );
});

const everythingIsHere: LookupFunction = (hostname, { all }, callback) => {
  const address = hostname.startsWith('metadata') ? '169.254.169.254' : '127.0.0.1';
  return all ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4);
};
const credentials = offering({ username: 'me', password: 'secret' });

/** A registry that wants a token or a password, and its storage. */
async function startStorage(t: Parameters<typeof startWorld>[0], login: (fake: FakeRegistry) => void) {
  const world = await startWorld(t, { credentials, lookup: everythingIsHere });
  const storage = await startFakeRegistry();
  t.after(() => storage.stop());
  login(world.fake);
  const digest = world.fake.setBlob(path, 'bytes');
  return { ...world, storage, digest };
}

for (const [name, login] of [
  ['a password', (fake: FakeRegistry) => fake.requireBasic({ user: 'me', password: 'secret' })],
  ['a token', (fake: FakeRegistry) => fake.requireBearer({ user: 'me', password: 'secret' })],
] as const) {
  test(`a blob in another storage is read, and the storage never receives ${name}`, async (t) => {
    const { fake, client, repository, storage, digest } = await startStorage(t, login);
    const location = `http://storage.example.com:${storage.host.split(':')[1]}/bucket?signature=x`;
    fake.answerNext(({ authorization }) => (authorization === undefined ? undefined : { status: 307, headers: { location } }), {
      path: '/v2/team/app/blobs/',
    });
    storage.answerNext({ body: 'bytes' });
    assert.equal((await client.readBlob(repository, digest, 100))?.toString(), 'bytes');
    assert.deepEqual(
      storage.requests.map(({ path, authorization }) => [path, authorization]),
      [['/bucket?signature=x', undefined]],
    );
  });
}

test('bytes of a blob that do not match its digest are refused', async (t) => {
  const { fake, client, repository, storage, digest } = await startStorage(t, () => undefined);
  fake.answerNext({ status: 307, headers: { location: `http://${storage.host}/bucket` } }, { path: '/v2/team/app/blobs/' });
  storage.answerNext({ body: 'other bytes' });
  await assert.rejects(client.readBlob(repository, digest, 100), { name: 'Error', message: /but that of the received bytes is sha256:/ });
});

const forbidden: [name: string, prepare: (fake: FakeRegistry) => void][] = [
  [
    'a redirect to a name that leads to a metadata address',
    (fake) => fake.answerNext({ status: 307, headers: { location: 'http://metadata.example.com/latest' } }, { path: '/v2/team/' }),
  ],
  [
    'a redirect to a metadata address',
    (fake) => fake.answerNext({ status: 307, headers: { location: 'http://169.254.169.254/latest' } }, { path: '/v2/team/' }),
  ],
  ['a token realm whose name leads to a metadata address', (fake) => fake.requireBearer({ realm: 'http://metadata.example.com/token' })],
  ['a token realm at a metadata address', (fake) => fake.requireBearer({ realm: 'http://169.254.169.254/token' })],
];
for (const [name, prepare] of forbidden) {
  for (const [question, { ask }] of Object.entries(questions)) {
    test(`${question} is refused for ${name}`, async (t) => {
      const { fake, client, repository } = await startWorld(t, { credentials, lookup: everythingIsHere });
      prepare(fake);
      await assert.rejects(ask(client, repository, fakeDigest('a')), (error) => {
        assert.ok(error instanceof PermanentError && error.reason === 'RegistryRefused', String(error));
        assert.match(error.message, /is a link-local or metadata address/);
        return true;
      });
    });
  }
}

test('after failures of several repositories the registry is paused, and other hosts on its address are not', async (t) => {
  let now = Date.UTC(2026, 0, 1);
  const { fake, client } = await startWorld(t, { now: () => now, lookup: everythingIsHere });
  const source = (name: string): ImageSource => ({ registry: fake.host, path: name });
  fake.answerNext({ status: 500 }, { times: 6 });
  for (let i = 0; i < 5; i++) await assert.rejects(client.listTags(source(`team/app-${i}`)), { name: 'Error', message: /answered 500$/ });
  const before = fake.requests.length;
  await assert.rejects(client.listTags(source('team/app')), (error) => {
    assert.ok(error instanceof WaitError && error.reason === 'RegistryUnavailable');
    assert.match(
      error.message,
      /^listing tags of .*\/team\/app: 127\.0\.0\.1:\d+ gets no requests for a while, because it failed 5 times in a row/,
    );
    return true;
  });
  assert.equal(fake.requests.length, before);
  now += 1_000;
  await assert.rejects(client.listTags(source('team/app')), /answered 500$/);
  await assert.rejects(client.listTags(source('team/app')), { name: 'WaitError' });
  now += 2_000;
  fake.setTag(path, '1', fakeDigest('a'));
  assert.deepEqual(await client.listTags(source(path)), ['1']);
  assert.deepEqual(await client.listTags(source(path)), ['1']);
  assert.equal(asked(fake).length, before + 3);
});

test('when Docker Hub reports no remaining pulls, reads of images wait and HEAD requests continue', async (t) => {
  const remaining: number[] = [];
  const { fake, client, repository } = await startWorld(t, {
    now: () => Date.UTC(2026, 0, 1),
    onHostEvent: (event) => void (event.kind === 'pulls' && remaining.push(event.remaining)),
  });
  fake.setManifest(path, '1', manifest);
  const headers = (left: number) => ({
    'ratelimit-limit': '100;w=21600',
    'ratelimit-remaining': `${left};w=21600`,
    'docker-content-digest': fakeDigest('a'),
  });
  fake.answerNext({ status: 429, headers: headers(0) }, { method: 'GET' });
  await assert.rejects(client.readManifest(repository, '1'), (error) => error instanceof WaitError && error.reason === 'RegistryThrottled');
  await assert.rejects(
    client.readManifest(repository, '1'),
    /allows no more pulls at present; the next try is at 2026-01-01T00:03:36\.000Z$/,
  );
  fake.answerNext({ headers: headers(0) }, { method: 'HEAD' });
  assert.ok(await client.headManifest(repository, '1'));
  fake.answerNext({ headers: headers(3) }, { method: 'HEAD' });
  assert.ok(await client.headManifest(repository, '1'));
  assert.ok(await client.readManifest(repository, '1'));
  assert.deepEqual(remaining, [0, 0, 3]);
});

test('a list of referrers may omit its schema version', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const referrer = { digest: fakeDigest('b'), artifactType: 'a/b' };
  fake.answerNext({ body: JSON.stringify({ manifests: [referrer] }) }, { path: '/v2/team/app/referrers/' });
  assert.deepEqual(await client.listReferrers(repository, fakeDigest('a')), [referrer]);
});

test('the referrers tag of a sha512 digest has its first 64 digits', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const referrer = { digest: fakeDigest('b'), artifactType: 'a/b' };
  const digest = `sha512:${'c'.repeat(64)}${'d'.repeat(64)}`;
  fake.setManifest('team/app', `sha512-${'c'.repeat(64)}`, JSON.stringify({ schemaVersion: 2, manifests: [referrer] }));
  assert.deepEqual(await client.listReferrers(repository, digest), [referrer]);
});
