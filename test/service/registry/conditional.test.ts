import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageSource } from '../../../src/core/model/image-source.ts';
import { conditional } from '../../../src/service/registry/conditional.ts';
import type { HttpAnswer, HttpRequest } from '../../../src/service/registry/http.ts';
import { Registries } from '../../../src/service/registry/registries.ts';
import { startWorld } from './start-world.ts';

const source: ImageSource = { registry: 'r.example.com', path: 'team/app' };
const registries = new Registries({ registries: [], allowedRegistries: [], timeoutMs: 1_000 });
const url = new URL('https://r.example.com/v2/team/app/tags/list?n=1000');
const request = (path = url.pathname): HttpRequest => ({
  registry: registries.find(source),
  kind: 'tags',
  what: 'listing tags',
  method: 'GET',
  url: new URL(path, url),
  headers: { accept: 'application/json' },
  maxBytes: 1_000,
  maxRedirects: 0,
});
const answer = (status: number, body = '', headers: HttpAnswer['headers'] = {}): HttpAnswer => ({
  status,
  headers,
  body: Buffer.from(body),
  url,
});

/** A registry that gives these answers; what it was asked is kept. */
function create(answers: readonly HttpAnswer[], limitBytes?: number) {
  const left = [...answers];
  const asked: (string | undefined)[] = [];
  const send = conditional((_, { headers }) => {
    asked.push(headers['if-none-match']);
    const nextAnswer = left.shift();
    return nextAnswer === undefined ? Promise.reject(new Error('500')) : Promise.resolve(nextAnswer);
  }, limitBytes);
  return { asked, send };
}

test('304 returns the cached answer, even after another request has failed', async () => {
  const { asked, send } = create([
    answer(200, 'a', { etag: '"1"', link: '<next>' }),
    answer(304),
    answer(500),
    answer(200, 'b', { etag: '"2"' }),
  ]);
  const first = await send(source, request());
  assert.equal(await send(source, request()), first);
  assert.equal((await send(source, request())).status, 500);
  assert.equal((await send(source, request())).body.toString(), 'b');
  await assert.rejects(send(source, request()), /500/);
  assert.deepEqual(asked, [undefined, '"1"', '"1"', undefined, '"2"']);
});

test('a registry without ETags gets unconditional requests', async () => {
  const { asked, send } = create([answer(200, 'a'), answer(200, 'b')]);
  await send(source, request());
  assert.equal((await send(source, request())).body.toString(), 'b');
  assert.deepEqual(asked, [undefined, undefined]);
});

test('other pages and other credentials have their own cached answers', async () => {
  const { asked, send } = create([1, 2, 3].map((number) => answer(200, 'a', { etag: `"${number}"` })));
  await send(source, request());
  await send(source, request('/v2/team/app/tags/list?last=x'));
  await send({ ...source, access: { secrets: [{ namespace: 'ops', name: 'creds', namedBy: 'policy' }] } }, request());
  assert.deepEqual(asked, [undefined, undefined, undefined]);
});

test('when the cache of answers is full the oldest answers are evicted', async () => {
  const { asked, send } = create(
    [2, 2, 4, 1, 1].map((thousands, index) => answer(200, 'a'.repeat(thousands * 1_000), { etag: `"${index}"` })),
    7_500,
  );
  for (const path of ['/a', '/b', '/c', '/a', '/b']) await send(source, request(path));
  assert.deepEqual(asked, [undefined, undefined, undefined, undefined, '"1"']);
});

test('addresses and headers of cached answers count towards the size of the cache', async () => {
  const long = { link: `<${'x'.repeat(3_000)}>; rel="next"` };
  const { asked, send } = create(
    [0, 1, 2, 3, 4].map((index) => answer(200, '{}', { etag: `"${index}"`, ...long })),
    7_500,
  );
  for (const path of ['/a', '/b', `/${'c'.repeat(1_000)}`, '/b', '/a']) await send(source, request(path));
  assert.deepEqual(asked, [undefined, undefined, undefined, '"1"', undefined]);
});

test('a client returns the same list of tags when none of its pages has changed', async (t) => {
  const { fake, client, repository } = await startWorld(t);
  fake.answerNext({ body: '{"tags":["a"]}', headers: { etag: '"1"', link: '<?last=a>; rel="next"' } });
  fake.answerNext({ body: '{"tags":["b"]}', headers: { etag: '"2"' } });
  assert.deepEqual(await client.listTags(repository), ['a', 'b']);
  fake.answerNext({ status: 304 });
  fake.answerNext({ body: '{"tags":["b","c"]}', headers: { etag: '"3"' } });
  assert.deepEqual(await client.listTags(repository), ['a', 'b', 'c']);
  assert.equal(fake.requests.length, 4);
});
