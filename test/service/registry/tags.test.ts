import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import type { HostEvent } from '../../../src/service/registry/host-limits.ts';
import { type FakeAnswer, fakeDigest } from '../../harness/fake-registry.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { asked, startWorld } from './start-world.ts';

const list = 'GET /v2/team/app/tags/list';
const first = '/v2/team/app/tags/list?n=1000';

test('all pages of a list of tags are read', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const tags = ['1.0', '1.1', '1.2', '1.3', '1.4'];
  for (const tag of tags) fake.setTag('team/app', tag, fakeDigest('a'));
  fake.setPageSize(2);
  assert.deepEqual(await client.listTags(repository), tags);
  assert.deepEqual(
    fake.requests.map(({ path }) => path),
    [first, '/v2/team/app/tags/list?n=2&last=1.1', '/v2/team/app/tags/list?n=2&last=1.3'],
  );
});

const links: [name: string, link: (host: string) => string][] = [
  ['relative', () => '</v2/team/app/tags/list?last=x>; rel="next"'],
  ['a query only', () => '<?last=x>; rel="next"'],
  ['absolute', (host) => `<http://${host}/v2/team/app/tags/list?last=x>; rel="next"`],
  ['absolute with another scheme, as a proxy leaves it', (host) => `<https://${host}/v2/team/app/tags/list?last=x>; rel="next"`],
];
for (const [name, link] of links) {
  test(`a link to the next page is accepted if it is ${name}`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.answerNext({ body: '{"tags":["a"]}', headers: { link: link(fake.host) } });
    fake.answerNext({ body: '{"tags":["b"]}' }, { path: '/v2/team/app/tags/list?last=x' });
    assert.deepEqual(await client.listTags(repository), ['a', 'b']);
  });
}

test('invalid tags and duplicates are dropped from a list of tags', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.answerNext({ body: JSON.stringify({ tags: ['1.0', 7, null, '', '-x', 'a b', '../..', 'x'.repeat(129), '1.0', 'latest'] }) });
  assert.deepEqual(await client.listTags(repository), ['1.0', 'latest']);
});

test('tags of signatures, attestations and referrers are omitted from a list of tags', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const digest = `sha256-${'a'.repeat(64)}`;
  fake.answerNext({ body: JSON.stringify({ tags: ['1.0', digest, `${digest}.sig`, `${digest}.att`, 'sha256-main'] }) });
  assert.deepEqual(await client.listTags(repository), ['1.0', 'sha256-main']);
});

test('the tags of an empty repository are an empty list, and those of an unknown one undefined', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.answerNext({ body: '{"name":"team/app","tags":null}' });
  assert.deepEqual(await client.listTags(repository), []);
  assert.equal(await client.listTags(repository), undefined);
});

test('simultaneous lists of one repository are requested once, and a caller that gives up does not end the request', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  const release = Promise.withResolvers<void>();
  fake.answerNext({ after: release.promise, body: '{"tags":["a"]}' });
  const controller = new AbortController();
  const impatient = client.listTags(repository, controller.signal);
  const patient = client.listTags(repository);
  controller.abort(new Error('enough'));
  await assert.rejects(impatient, /enough/);
  release.resolve();
  assert.deepEqual(await patient, ['a']);
  assert.deepEqual(asked(fake), [list]);
});

test('a reader of tags with newer credentials does not share the refusal of older ones', async (t) => {
  let version = '1';
  const { fake, client, repository } = await startWorld(t, { credentialVersions: () => version });
  fake.setTag('team/app', '1.0', fakeDigest('a'));
  const release = Promise.withResolvers<void>();
  fake.answerNext({ after: release.promise, status: 403 });
  const before = client.listTags(repository);
  await waitFor('the first question', () => fake.requests.length === 1);
  version = '2';
  assert.deepEqual(await client.listTags(repository), ['1.0']);
  release.resolve();
  await assert.rejects(before, { reason: 'RegistryDenied' });
});

let page = 0;
/** A page of tags that nobody had before. */
const tags = (count: number) => JSON.stringify({ tags: Array.from({ length: count }, (_, index) => `${page}-${index}`) });
const bad: [name: string, answer: FakeAnswer | (() => FakeAnswer), expected: RegExp][] = [
  ['truncated JSON', { body: '{"tags":["a"' }, /^listing tags of .*\/team\/app: the answer is not valid JSON$/],
  ['no object', { body: 'null' }, /the answer is not a tag list/],
  ['no list', { body: '{"tags":{"a":1}}' }, /the answer is not a tag list/],
  ['500', { status: 500, body: '{"errors":[{"code":"UNKNOWN","message":"disk full"}]}' }, /registry answered 500 \(UNKNOWN: disk full\)$/],
  ['a page that is too large', { body: 'x'.repeat(8 * 1024 * 1024 + 1) }, /the answer is larger than 8388608 bytes/],
  [
    'a link to itself',
    { body: '{"tags":["a"]}', headers: { link: `<${first}>; rel="next"` } },
    /the next page is one that was already read/,
  ],
  ['pages without end', () => ({ body: '{"tags":["a"]}', headers: { link: `<?last=${page++}>; rel="next"` } }), /more than 1000 pages/],
  ['tags without end', () => ({ body: tags(50_000), headers: { link: `<?last=${page++}>; rel="next"` } }), /more than 200000 tags$/],
  ['a link that is no URL', { body: '{"tags":["a"]}', headers: { link: '<http://>; rel="next"' } }, /is not a URL/],
];
for (const [name, answer, expected] of bad) {
  test(`a list answered with ${name} is a retryable error`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.answerNext(answer, { times: 2000 });
    await assert.rejects(client.listTags(repository), (error: Error) => error.name === 'Error' && expected.test(error.message));
  });
}

test('a list that takes longer than five minutes is a retryable error', async (t) => {
  let now = 0;
  const { fake, client, repository } = await startWorld(t, { now: () => now });
  fake.answerNext(() => ({ body: '{"tags":["a"]}', headers: { link: `<?last=${(now += 9_900)}>; rel="next"` } }), { times: 1000 });
  await assert.rejects(client.listTags(repository), {
    name: 'Error',
    message: /^listing tags of .*\/team\/app: it took longer than 5 min \(31 pages so far\)$/,
  });
});

test('an endless body of a list of tags ends with a timeout', async (t) => {
  const { fake, client, repository } = await startWorld(t, { timeoutMs: 50 });
  fake.answerNext({ stall: true, body: '{"tags":["a"' });
  await assert.rejects(client.listTags(repository), { name: 'Error', message: /no answer from .* within 50 ms; check the host/ });
});

test('unchanged pages of tags are not transferred again, and changed ones are', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  for (const tag of ['1.0', '1.1', '1.2']) fake.setTag('team/app', tag, fakeDigest('a'));
  fake.setPageSize(2);
  fake.nameLists();
  const conditions = () => fake.requests.splice(0).map(({ condition }) => condition !== undefined);
  assert.deepEqual(await client.listTags(repository), ['1.0', '1.1', '1.2']);
  assert.deepEqual(conditions(), [false, false]);
  assert.deepEqual(await client.listTags(repository), ['1.0', '1.1', '1.2']);
  assert.deepEqual(conditions(), [true, true]);
  fake.setTag('team/app', '1.3', fakeDigest('a'));
  assert.deepEqual(await client.listTags(repository), ['1.0', '1.1', '1.2', '1.3']);
  fake.deleteTag('team/app', '1.0');
  assert.deepEqual(await client.listTags(repository), ['1.1', '1.2', '1.3']);
  fake.requests.length = 0;
  const access = { secrets: [{ namespace: 'shop', name: 'mine', namedBy: 'policy' as const }] };
  assert.deepEqual(await client.listTags({ ...repository, access }), ['1.1', '1.2', '1.3']);
  assert.deepEqual(conditions(), [false, false], 'what one may see is not told to others');
});

const times: [name: string, headers: Record<string, string>, condition: string | undefined][] = [
  [
    'long past',
    { date: 'Thu, 01 Jan 2026 00:02:00 GMT', 'last-modified': 'Thu, 01 Jan 2026 00:01:00 GMT' },
    'Thu, 01 Jan 2026 00:01:00 GMT',
  ],
  ['a moment ago', { date: 'Thu, 01 Jan 2026 00:02:00 GMT', 'last-modified': 'Thu, 01 Jan 2026 00:02:00 GMT' }, undefined],
  ['that is none', { 'last-modified': 'yesterday' }, undefined],
];
for (const [name, headers, condition] of times) {
  test(`a list last changed at a time ${name} is ${condition === undefined ? 'read again' : 'requested conditionally'}`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.answerNext({ body: '{"tags":["a"]}', headers });
    await client.listTags(repository);
    fake.answerNext(condition === undefined ? { body: '{"tags":["a"]}' } : { status: 304 });
    assert.deepEqual(await client.listTags(repository), ['a']);
    assert.deepEqual(
      fake.requests.map((request) => request.condition),
      [undefined, condition],
    );
  });
}

test('304 to an unconditional request for tags is a retryable error', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.answerNext({ status: 304 });
  await assert.rejects(client.listTags(repository), { name: 'Error', message: /registry answered 304$/ });
});

/** What a thousand tags of this length hold in memory while they are read. */
const heldBy = (length: number) => 1000 * (length + 64);
/** A page of a thousand new tags of 128 characters, and a link to the next one. */
const largePage = (): FakeAnswer => {
  page++;
  const body = JSON.stringify({ tags: Array.from({ length: 1000 }, (_, index) => `${page}-${index}`.padEnd(128, 'x')) });
  return { body, headers: { link: `<?last=${page}>; rel="next"` } };
};
const isGivenUp = (path: string) => ({
  name: 'WaitError',
  reason: 'RegistryBusy',
  message: new RegExp(`^listing tags of 127\\.0\\.0\\.1:\\d+/${path}: given up, as its answer was the largest of those being read`),
});

test('if endless lists take too much memory together the largest are postponed, and small ones are read', async (t) => {
  const events: HostEvent[] = [];
  const { fake, client } = await startWorld(t, {
    readingBytes: 10 * heldBy(128),
    now: () => 0,
    onHostEvent: (event) => events.push(event),
  });
  const released = Promise.withResolvers<void>();
  const paths = ['team/a', 'team/b', 'team/c', 'team/d'];
  for (const path of paths) {
    const first = `/v2/${path}/tags/list?n=1000`;
    fake.answerNext(largePage, { path: first });
    fake.answerNext(() => ({ ...largePage(), after: released.promise }), {
      path: new RegExp(`^/v2/${path}/tags/list\\?last`),
      times: 2000,
    });
  }
  const small = Promise.withResolvers<void>();
  fake.answerNext({ body: '{"tags":["1.0"]}', headers: { link: '<?last=1.0>; rel="next"' } }, { path: '/v2/team/small/tags/list?n=1000' });
  fake.answerNext({ body: '{"tags":["1.1"]}', after: small.promise }, { path: '/v2/team/small/tags/list?last=1.0' });
  const list = (path: string) => client.listTags({ registry: fake.host, path });
  const smallList = list('team/small');
  const endless = Promise.allSettled(paths.map(list));
  await waitFor('all to be under way', () => fake.requests.length === 2 * (paths.length + 1));
  released.resolve();
  for (const [index, result] of (await endless).entries()) {
    assert.ok(result.status === 'rejected');
    assert.throws(
      () => {
        throw result.reason;
      },
      isGivenUp(paths[index] ?? ''),
    );
    assert.ok(result.reason instanceof WaitError && result.reason.until.getTime() === 30_000);
  }
  small.resolve();
  assert.deepEqual(await smallList, ['1.0', '1.1']);
  assert.deepEqual(
    events,
    paths.map(() => ({ host: fake.host, kind: 'refused', reason: 'RegistryBusy' })),
  );
});

test('a list that has ended no longer counts towards the memory of readings, however it ended', async (t) => {
  const { fake, client, repository } = await startWorld(t, { readingBytes: 10 * heldBy(128), now: () => 0 });
  const large = { registry: fake.host, path: 'team/large' };
  // Somebody reads all the time: alone, nobody would be given up.
  const bystander = Promise.withResolvers<void>();
  fake.answerNext({ body: '{"tags":["1.0"]}', after: bystander.promise }, { path: first });
  const beside = client.listTags(repository);
  const endings: [name: string, last: FakeAnswer, expected: RegExp | undefined][] = [
    ['well', { body: '{"tags":[]}' }, undefined],
    ['404', { status: 404 }, /answered 404/],
    ['500', { status: 500 }, /answered 500/],
    ['no JSON', { body: 'x'.repeat(heldBy(128)) }, /not valid JSON/],
    ['cut off', { body: 'x'.repeat(heldBy(128)), cut: true }, /listing tags/],
    ['aborted', { stall: true, body: 'x'.repeat(heldBy(128)) }, /enough/],
  ];
  for (const round of [1, 2, 3]) {
    for (const [name, last, expected] of endings) {
      fake.answerNext(largePage, { path: /large.*n=1000/ });
      // Seven of them fit only because a page that was read counts no more, but its tags.
      fake.answerNext(largePage, { path: /large.*last/, times: 7 });
      fake.answerNext(last, { path: /large.*last/, times: name === 'cut off' ? 2 : 1 });
      const asked = fake.requests.length;
      const controller = new AbortController();
      const listed = client.listTags(large, controller.signal);
      if (name === 'aborted') {
        listed.catch(() => {});
        await waitFor('the last page', () => fake.requests.length === asked + 9);
        controller.abort(new Error('enough'));
      }
      if (expected === undefined) await listed;
      else await assert.rejects(listed, expected, `${name}, round ${round}`);
    }
  }
  bystander.resolve();
  assert.deepEqual(await beside, ['1.0']);
});

test('manifests count towards the memory of readings, too', async (t) => {
  const { fake, client, repository } = await startWorld(t, { readingBytes: 1_000_000 });
  for (const [tag, length] of [
    ['large', 600_000],
    ['small', 500_000],
  ] as const)
    fake.answerNext({ stall: true, body: 'x'.repeat(length) }, { method: 'GET', path: `/v2/team/app/manifests/${tag}` });
  const controller = new AbortController();
  const small = client.readManifest(repository, 'small', controller.signal);
  await assert.rejects(client.readManifest(repository, 'large'), { name: 'WaitError', reason: 'RegistryBusy', message: /given up/ });
  controller.abort(new Error('enough'));
  await assert.rejects(small, /enough/);
});
