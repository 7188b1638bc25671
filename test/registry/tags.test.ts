import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeAnswer, fakeDigest } from '../harness/fake-registry.ts';
import { waitFor } from '../harness/wait-for.ts';
import { asked, startWorld } from './start-world.ts';

const list = 'GET /v2/team/app/tags/list';
const first = '/v2/team/app/tags/list?n=1000';

test('all pages are read', async (t) => {
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
  test(`a link may be ${name}`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.answerNext({ body: '{"tags":["a"]}', headers: { link: link(fake.host) } });
    fake.answerNext({ body: '{"tags":["b"]}' }, { path: '/v2/team/app/tags/list?last=x' });
    assert.deepEqual(await client.listTags(repository), ['a', 'b']);
  });
}

test('what is no tag is dropped, and so are doubles', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.answerNext({ body: JSON.stringify({ tags: ['1.0', 7, null, '', '-x', 'a b', '../..', 'x'.repeat(129), '1.0', 'latest'] }) });
  assert.deepEqual(await client.listTags(repository), ['1.0', 'latest']);
});

test('an empty repository is an empty list, an unknown one is undefined', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.answerNext({ body: '{"name":"team/app","tags":null}' });
  assert.deepEqual(await client.listTags(repository), []);
  assert.equal(await client.listTags(repository), undefined);
});

test('simultaneous lists of one repository are one; an impatient caller leaves alone', async (t) => {
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

test('who knows newer credentials does not share the refusal of older ones', async (t) => {
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
  ['a link to itself', { body: '{"tags":["a"]}', headers: { link: `<${first}>; rel="next"` } }, /go round in a circle/],
  ['pages without end', () => ({ body: '{"tags":["a"]}', headers: { link: `<?last=${page++}>; rel="next"` } }), /more than 1000 pages/],
  ['tags without end', () => ({ body: tags(50_000), headers: { link: `<?last=${page++}>; rel="next"` } }), /more than 200000 tags$/],
  [
    'a link to another host',
    { body: '{"tags":["a"]}', headers: { link: '<http://127.0.0.1:9/v2/x>; rel="next"' } },
    /leads to another host, 127\.0\.0\.1:9/,
  ],
  ['a link that is no URL', { body: '{"tags":["a"]}', headers: { link: '<http://>; rel="next"' } }, /is not a URL/],
];
for (const [name, answer, expected] of bad) {
  test(`a list answered with ${name} is a plain error: retry`, async (t) => {
    const { fake, client, repository } = await startWorld(t);
    fake.answerNext(answer, { times: 2000 });
    await assert.rejects(client.listTags(repository), (error: Error) => error.name === 'Error' && expected.test(error.message));
  });
}

test('a list that takes longer than five minutes is a plain error: retry', async (t) => {
  let now = 0;
  const { fake, client, repository } = await startWorld(t, { now: () => now });
  fake.answerNext(() => ({ body: '{"tags":["a"]}', headers: { link: `<?last=${(now += 9_900)}>; rel="next"` } }), { times: 1000 });
  await assert.rejects(client.listTags(repository), {
    name: 'Error',
    message: /^listing tags of .*\/team\/app: it took longer than 5 min \(31 pages so far\)$/,
  });
});

test('a body that never ends is a timeout', async (t) => {
  const { fake, client, repository } = await startWorld(t, { timeoutMs: 50 });
  fake.answerNext({ stall: true, body: '{"tags":["a"' });
  await assert.rejects(client.listTags(repository), { name: 'Error', message: /no answer from .* within 50 ms$/ });
});

test('pages that have not changed are not sent again; those that have, are', async (t) => {
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
  test(`a list last changed at a time ${name} is ${condition === undefined ? 'read again' : 'asked for if it has changed since'}`, async (t) => {
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

test('304 to a question without a condition is a plain error: retry', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.answerNext({ status: 304 });
  await assert.rejects(client.listTags(repository), { name: 'Error', message: /registry answered 304$/ });
});
