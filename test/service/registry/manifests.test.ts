import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { test } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import { type FakeAnswer, fakeDigest, startFakeRegistry } from '../../harness/fake-registry.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { asked, startWorld } from './start-world.ts';

const head = 'HEAD /v2/team/app/manifests/1';
const get = 'GET /v2/team/app/manifests/1';
const manifest = JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests: [] });

const fallbacks: [name: string, answer: FakeAnswer][] = [
  ['405', { status: 405 }],
  ['501', { status: 501 }],
  ['no digest', {}],
  ['an invalid digest', { headers: { 'docker-content-digest': 'sha256:abc' } }],
];
for (const [name, answer] of fallbacks) {
  test(`after a HEAD answered with ${name}, the digest is computed from the bytes`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    const digest = fake.setManifest('team/app', '1', manifest);
    fake.answerNext(answer, { method: 'HEAD' });
    assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
    assert.deepEqual(asked(fake), [head, get]);
  });
}

test('readTag takes one request for a tag of unknown image, and returns the bytes with their digest', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digest = fake.setManifest('team/app', '1', manifest);
  const found = await client.readTag(repository, '1');
  assert.deepEqual([found?.digest, found?.bytes?.toString()], [digest, manifest]);
  assert.equal(await client.readTag(repository, 'gone'), undefined);
  assert.deepEqual(asked(fake), [get, 'GET /v2/team/app/manifests/gone']);
});

test('the bytes of a manifest are verified against a sha512 digest too', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digest = `sha512:${createHash('sha512').update(manifest).digest('hex')}`;
  fake.answerNext({ status: 405 }, { method: 'HEAD' });
  fake.answerNext({ headers: { 'docker-content-digest': digest }, body: manifest }, { method: 'GET' });
  assert.equal((await client.headManifest(repository, '1'))?.digest, digest);
});

const badBytes: [name: string, answer: FakeAnswer, expected: RegExp][] = [
  [
    'another digest than the header',
    { headers: { 'docker-content-digest': fakeDigest('a') }, body: manifest },
    /the digest is sha256:a+, but that of the received bytes is sha256:/,
  ],
  ['a truncated manifest', { body: manifest.slice(0, -1) }, /^GET manifest of .*\/team\/app:1: the answer is not a manifest$/],
  ['a page', { body: '<html>please log in</html>' }, /the answer is not a manifest/],
  ['nothing', { body: '' }, /the answer is not a manifest/],
  [
    'a manifest that is too large',
    { body: JSON.stringify({ schemaVersion: 2, padding: 'x'.repeat(2 * 1024 * 1024) }) },
    /larger than 2097152 bytes/,
  ],
  ['500', { status: 500 }, /registry answered 500$/],
];
for (const [name, answer, expected] of badBytes) {
  test(`a GET answered with ${name} is a retryable error`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.answerNext({ status: 405 }, { method: 'HEAD' });
    fake.answerNext(answer, { method: 'GET' });
    await assert.rejects(client.headManifest(repository, '1'), (error: Error) => error.name === 'Error' && expected.test(error.message));
  });
}

test('a deleted tag, or one that never existed, is read as undefined', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', fakeDigest('a'));
  fake.deleteTag('team/app', '1');
  assert.equal(await client.headManifest(repository, '1'), undefined);
  for (const tag of ['..', '../../_catalog', 'a/b', 'a?b', '']) assert.equal(await client.headManifest(repository, tag), undefined);
  assert.deepEqual(asked(fake), [head]);
});

test('each answer of a stale registry about a tag is returned: the old digest, then nothing, then the new one', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', fakeDigest('b'));
  fake.staleFor('team/app', '1', fakeDigest('a'), 2);
  const digests = [];
  for (let i = 0; i < 3; i++) digests.push((await client.headManifest(repository, '1'))?.digest);
  assert.deepEqual(digests, [fakeDigest('a'), fakeDigest('a'), fakeDigest('b')]);
  fake.staleFor('team/app', '1', undefined, 1);
  assert.equal(await client.headManifest(repository, '1'), undefined);
});

test('connections are kept alive across HEAD requests', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', fakeDigest('a'));
  for (let i = 0; i < 20; i++) await client.headManifest(repository, '1');
  assert.ok(fake.connections <= 4, `${fake.connections} connections`);
});

const everythingIsHere: LookupFunction = (_hostname, { all }, callback) =>
  all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);

test('no more requests than the concurrency of a host run at once, and another host does not wait for them', async (t) => {
  const fake = await startFakeRegistry();
  const otherHost = fake.host.replace('127.0.0.1', 'other.example.com');
  const registries = [
    { host: fake.host, insecure: true, concurrency: 2 },
    { host: otherHost, insecure: true },
  ];
  const { client } = await startWorld(t, { registries, lookup: everythingIsHere });
  t.after(() => fake.stop());
  fake.setTag('team/app', '1', fakeDigest('a'));
  const release = Promise.withResolvers<void>();
  fake.answerNext({ after: release.promise, status: 404 }, { path: '/v2/slow/', times: 5 });
  const all = Array.from({ length: 5 }, () => client.headManifest({ registry: fake.host, path: 'slow' }, '1'));
  await waitFor('two requests', () => fake.requests.length === 2);
  assert.ok(await client.headManifest({ registry: otherHost, path: 'team/app' }, '1'));
  assert.deepEqual(
    fake.requests.map(({ path }) => path),
    ['/v2/slow/manifests/1', '/v2/slow/manifests/1', '/v2/team/app/manifests/1'],
  );
  release.resolve();
  assert.deepEqual(
    await Promise.all(all),
    Array.from({ length: 5 }, () => undefined),
  );
});

const start = Date.UTC(2026, 0, 1);
const throttled: [name: string, answer: FakeAnswer, waitSeconds: number][] = [
  ['429 with seconds', { status: 429, headers: { 'retry-after': '60' } }, 60],
  ['429 with a date', { status: 429, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:02:00 GMT' } }, 120],
  ['503 with seconds', { status: 503, headers: { 'retry-after': '5' } }, 5],
  ['429 with a day', { status: 429, headers: { 'retry-after': '86400' } }, 3600],
  ['429 without Retry-After', { status: 429 }, 1],
  ['429 with rubbish', { status: 429, headers: { 'retry-after': 'soon' } }, 1],
];
for (const [name, answer, seconds] of throttled) {
  test(`a registry that answers ${name} is waited for`, async (t) => {
    const { fake, client, repository } = await startWorld(t, { now: () => start });
    fake.answerNext(answer);
    await assert.rejects(client.headManifest(repository, '1'), (error) => {
      assert.ok(error instanceof WaitError);
      assert.equal(error.reason, 'RegistryThrottled');
      assert.equal(error.until.getTime(), start + seconds * 1000);
      return true;
    });
  });
}

test('the times at which throttled callers return are spread', async (t) => {
  const { fake, client, repository } = await startWorld(t, { now: () => start, random: () => 0.5 });
  fake.answerNext({ status: 429, headers: { 'retry-after': '100' } });
  await assert.rejects(
    client.headManifest(repository, '1'),
    (error) => error instanceof WaitError && error.until.getTime() === start + 105_000,
  );
});

for (const [name, answer] of [
  ['500', { status: 500 }],
  ['503 without Retry-After', { status: 503 }],
  ['204', { status: 204 }],
] satisfies [string, FakeAnswer][]) {
  test(`the answer ${name} is a retryable error`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.answerNext(answer);
    const message = `HEAD manifest of ${fake.host}/team/app:1: registry answered ${answer.status}`;
    await assert.rejects(client.headManifest(repository, '1'), { name: 'Error', message });
  });
}

test('a request whose connection is reset is repeated once, and twice is a retryable error', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.setTag('team/app', '1', fakeDigest('a'));
  fake.answerNext({ destroy: true });
  assert.ok(await client.headManifest(repository, '1'));
  assert.deepEqual(asked(fake), [head, head]);
  fake.answerNext({ destroy: true }, { times: 2 });
  await assert.rejects(client.headManifest(repository, '1'), (error: Error) => {
    assert.match(
      error.message,
      /^HEAD manifest of .*: cannot connect to 127\.0\.0\.1:\d+: the connection was closed before an answer came \((?:UND_ERR_SOCKET|ECONNRESET)\); check the port/,
    );
    return error.name === 'Error';
  });
});

test('a registry that does not answer in time is a retryable error', async (t) => {
  const { fake, client, repository } = await startWorld(t, { timeoutMs: 50 });
  fake.answerNext({ after: new Promise(() => {}) });
  await assert.rejects(client.headManifest(repository, '1'), {
    name: 'Error',
    message: /no answer from 127\.0\.0\.1:\d+ within 50 ms; check the host/,
  });
});

test('a request for a manifest can be cancelled by its caller', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const controller = new AbortController();
  fake.answerNext(() => {
    controller.abort(new Error('shutting down'));
    return { after: new Promise(() => {}) };
  });
  await assert.rejects(client.headManifest(repository, '1', controller.signal), { message: 'shutting down' });
  await assert.rejects(client.headManifest(repository, '1', controller.signal), { message: 'shutting down' });
  assert.equal(fake.requests.length, 1);
});
