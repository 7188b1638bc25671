import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distribution } from '../../../src/service/receive/providers/distribution.ts';
import type { Provider } from '../../../src/service/receive/providers/provider.ts';
import { quay } from '../../../src/service/receive/providers/quay.ts';
import { authentic, ProofUnavailable, refused } from '../../../src/service/receive/authenticate.ts';
import { harbor } from '../../../src/service/receive/providers/harbor.ts';
import { countOf, digest, post, push } from './post.ts';
import { limits, startApp } from './start-app.ts';

test('a receiver answers 202 to an accepted push, with the normalised names', async (t) => {
  const world = await startApp(t);
  const response = await post(world);
  assert.equal(response.statusCode, 202);
  const [event] = world.stored;
  assert.deepEqual(response.json(), {
    accepted: [{ id: event?.id, registry: 'harbor.example.com', repository: 'shop/web', tag: '1.2.3', digest }],
    ignored: [],
  });
  assert.deepEqual(event, {
    id: event?.id,
    isUnkeyed: true,
    receiver: 'prod',
    provider: 'harbor',
    repository: { registry: 'harbor.example.com', path: 'shop/web' },
    tag: '1.2.3',
    digest,
    receivedAt: '2026-03-01T12:00:00.000Z',
    pushedAt: '2023-11-14T22:13:20.000Z',
  });
  assert.deepEqual(await countOf(world, 'deliveries'), { 202: 1 });
  assert.deepEqual(await countOf(world, 'pushes'), { accepted: 1, ignored: 0 });
});

test('a receiver answers 202 to a repeated delivery, with the same body', async (t) => {
  let minutes = 0;
  const world = await startApp(t, {}, { now: () => new Date(60_000 * minutes++) });
  const first = await post(world);
  const second = await post(world);
  assert.deepEqual([first.statusCode, second.statusCode], [202, 202]);
  assert.deepEqual(first.json<object>(), second.json());
});

test('a receiver answers 202 when some pushes are accepted and some ignored, with duplicates listed once', async (t) => {
  const world = await startApp(t, { provider: distribution });
  const target = { repository: 'team/api', digest, mediaType: 'application/vnd.oci.image.index.v1+json' };
  const event = { id: '1', action: 'push', target: { ...target, tag: '1' }, request: { host: 'r.example.com' } };
  const events = [event, event, { ...event, action: 'pull' }, { ...event, target }, { ...event, target: { ...target, tag: '2' } }];
  const response = await post(world, { body: JSON.stringify({ events }) });
  assert.equal(response.statusCode, 202);
  const { accepted, ignored } = response.json<{ accepted: { tag: string }[]; ignored: object[] }>();
  assert.deepEqual(
    accepted.map(({ tag }) => tag),
    ['1', '2'],
  );
  assert.deepEqual(ignored, [
    { reason: 'not a push: pull', repository: 'team/api', tag: '1' },
    { reason: 'pushed by digest, without a tag', repository: 'team/api' },
  ]);
  assert.equal(world.stored.length, 2);
});

test('a receiver answers 202 with the configured registry, whatever the payload claims', async (t) => {
  const world = await startApp(t, { registryOverride: 'mirror.example.com' });
  await post(world);
  assert.equal(world.stored[0]?.repository.registry, 'mirror.example.com');
});

test('a receiver answers 202 whatever the content type is', async (t) => {
  const world = await startApp(t);
  for (const type of [
    'application/cloudevents+json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    // None of these can be parsed.
    'application/"json',
    ':application/json',
    'json',
    '',
  ]) {
    assert.equal((await post(world, { headers: { 'content-type': type } })).statusCode, 202, type);
  }
});

test('a receiver answers 200 to an authentic delivery with nothing to do', async (t) => {
  const world = await startApp(t);
  const response = await post(world, { body: JSON.stringify({ ...push(), type: 'PULL_ARTIFACT' }) });
  assert.equal(response.statusCode, 200);
  assert.deepEqual(response.json(), { accepted: [], ignored: [{ reason: 'not a push: PULL_ARTIFACT', repository: 'Shop/web' }] });
  assert.deepEqual(await countOf(world, 'pushes'), { accepted: 0, ignored: 1 });
  const [line = '{}'] = world.logged.filter((text) => text.includes('"msg":"push ignored"'));
  const { level, receiver, reason, why, repository } = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual([level, receiver, reason, why, repository], ['debug', 'prod', 'OtherEvent', 'not a push: PULL_ARTIFACT', 'Shop/web']);
});

test('a receiver answers 200 to a malformed body, which is logged once without its content', async (t) => {
  const world = await startApp(t);
  const response = await post(world, { body: '{"password":"hunter2"' });
  assert.equal(response.statusCode, 200);
  assert.deepEqual(response.json(), {
    accepted: [],
    ignored: [{ reason: "not understood: the body is not JSON; does the sender match the receiver's provider, harbor?" }],
  });
  await post(world, { body: '{"password":"hunter2"' });
  const warnings = () => world.logged.filter((line) => line.includes('delivery not understood') && line.includes('"level":"warn"')).length;
  assert.equal(warnings(), 1);
  await post(world, { body: '[]' });
  assert.equal(warnings(), 2);
  assert.ok(!world.logged.join('').includes('hunter2'));
});

test("a receiver answers 200 to a handshake, in the sender's format", async (t) => {
  const provider = { ...harbor, parse: () => ({ pushes: [], ignored: [], handshake: { validationResponse: '512d' } }) };
  const world = await startApp(t, { provider, unauthenticated: true });
  const response = await post(world);
  assert.deepEqual([response.statusCode, response.json()], [200, { validationResponse: '512d' }]);
});

test('a receiver answers 200 without Redis when there is nothing to do', async (t) => {
  const world = await startApp(t, {}, { refusal: () => 'Redis is away' });
  assert.equal((await post(world, { body: '{}' })).statusCode, 200);
});

test('a receiver answers 404 to unknown receivers, unknown paths and every method but POST', async (t) => {
  const world = await startApp(t);
  const { app } = world;
  for (const url of [
    '/webhooks/other',
    '/webhooks/other/s3cret',
    '/webhooks',
    '/webhooks/',
    '/webhooks/prod/s3cret/more',
    '/',
    '/metrics',
    '/healthz',
    '/webhooks/__proto__',
    '/webhooks/constructor',
  ]) {
    assert.equal((await post(world, { url })).statusCode, 404, url);
  }
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'] as const) {
    assert.equal((await app.inject({ method, url: '/webhooks/prod' })).statusCode, 404, method);
  }
  assert.deepEqual(world.stored, []);
});

test('a receiver answers 400 or 414 to a path that cannot be decoded or is too long', async (t) => {
  const world = await startApp(t);
  assert.equal((await post(world, { url: '/webhooks/%zz' })).statusCode, 400);
  assert.equal((await post(world, { url: `/webhooks/${'a'.repeat(600)}` })).statusCode, 414);
});

test('a receiver answers 401 without details, and stores nothing', async (t) => {
  const world = await startApp(t);
  for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Basic czNjcmV0', 'S3CRET', 's3cret,s3cret']) {
    const response = await post(world, { headers: { authorization } });
    assert.deepEqual([response.statusCode, response.body], [401, '{"error":"unauthorized"}'], authorization);
  }
  const bare = await world.app.inject({ method: 'POST', url: '/webhooks/prod' });
  assert.equal(bare.statusCode, 401);
  assert.deepEqual(world.stored, []);
  assert.deepEqual(await countOf(world, 'deliveries'), { 401: 7 });
});

test('the whole Authorization header may be the secret', async (t) => {
  const world = await startApp(t, { secrets: () => ['Basic czNjcmV0', 'bare'] });
  for (const authorization of ['Basic czNjcmV0', 'bare', 'Bearer bare', 'bearer  bare']) {
    assert.equal((await post(world, { headers: { authorization } })).statusCode, 202, authorization);
  }
});

test('the token in the URL is sufficient, and the right header does not make up for a wrong token', async (t) => {
  const world = await startApp(t, { secrets: () => ['next', 's3cret/with slash'] });
  const { app } = world;
  const statusOf = async (url: string, authorization = '') =>
    (await app.inject({ method: 'POST', url, body: JSON.stringify(push()), headers: { authorization } })).statusCode;
  assert.equal(await statusOf('/webhooks/prod/next'), 202);
  assert.equal(await statusOf('/webhooks/prod/s3cret%2Fwith%20slash'), 202);
  assert.equal(await statusOf('/webhooks/prod/wrong'), 401);
  assert.equal(await statusOf('/webhooks/prod/wrong', 'Bearer next'), 401);
  assert.equal(await statusOf('/webhooks/prod/', 'Bearer next'), 401);
});

test('an unauthenticated receiver accepts everything', async (t) => {
  const world = await startApp(t, { unauthenticated: true, secrets: () => [] });
  assert.equal((await world.app.inject({ method: 'POST', url: '/webhooks/prod', body: JSON.stringify(push()) })).statusCode, 202);
});

test('a receiver answers 401 where only other proofs are accepted, and 503 while they cannot be verified', async (t) => {
  const receiver = { secrets: () => [] };
  const no = await startApp(t, { ...receiver, proofs: [() => Promise.resolve(refused('the signature is wrong'))] });
  assert.equal((await post(no)).statusCode, 401);
  await post(no);
  const warnings = no.logged.filter((line) => line.includes('"level":"warn"') && line.includes('the signature is wrong'));
  assert.equal(warnings.length, 1);
  const proofs = [() => Promise.reject(new ProofUnavailable('the keys cannot be had'))];
  const away = await startApp(t, { ...receiver, proofs });
  const response = await post(away);
  assert.deepEqual([response.statusCode, response.headers['retry-after']], [503, '5']);
  const yes = await startApp(t, { ...receiver, proofs: [() => Promise.resolve(authentic)] });
  assert.equal((await post(yes)).statusCode, 202);
  assert.deepEqual([no.stored, away.stored, yes.stored.length], [[], [], 1]);
});

test('a receiver answers 503 to a proof that takes longer than the sender waits', { timeout: 10_000 }, async (t) => {
  const world = await startApp(t, { proofs: [() => new Promise<never>(() => undefined)], secrets: () => [] });
  assert.equal((await post(world)).statusCode, 503);
});

test('a receiver answers 413 to a body over the limit, and accepts one at the limit', async (t) => {
  const world = await startApp(t, {}, { limits: { ...limits, bodyLimitBytes: 2_048 } });
  const text = JSON.stringify(push());
  assert.equal((await post(world, { body: text.padEnd(2_048) })).statusCode, 202);
  const response = await post(world, { body: text.padEnd(2_049) });
  assert.deepEqual([response.statusCode, response.json()], [413, { error: 'the body is too large' }]);
  assert.equal(world.stored.length, 1);
});

test('a receiver answers 413 to more pushes than one delivery may contain, and stores none of them', async (t) => {
  const world = await startApp(t, { provider: quay });
  const deliver = (count: number) => {
    const tags = Array.from({ length: count }, (_, index) => [`v${index}`, 'layer']);
    const body = JSON.stringify({ docker_url: 'quay.io/team/api', updated_tags: Object.fromEntries(tags) });
    return post(world, { url: '/webhooks/prod/s3cret', body });
  };
  const response = await deliver(1_001);
  assert.deepEqual([response.statusCode, response.json()], [413, { error: '1001 entries in one delivery; the limit is 1000' }]);
  assert.deepEqual([world.stored, await countOf(world, 'rejectedDeliveries')], [[], { 'too-large': 1 }]);
  assert.ok(world.logged.some((line) => line.includes('"level":"warn"') && line.includes('1001 entries in one delivery')));
  assert.equal((await deliver(1_000)).statusCode, 202);
  assert.equal(world.stored.length, 1_000);
});

test('a receiver answers 413 to too many entries, even if they are not pushes', async (t) => {
  const world = await startApp(t, { provider: distribution });
  const deliver = (count: number) => post(world, { body: JSON.stringify({ events: Array.from({ length: count }, () => ({})) }) });
  const refused = await deliver(1_001);
  assert.deepEqual([refused.statusCode, refused.json()], [413, { error: '1001 entries in one delivery; the limit is 1000' }]);
  const taken = await deliver(1_000);
  const { ignored, ignoredMore } = taken.json<{ ignored: object[]; ignoredMore: number }>();
  assert.deepEqual([taken.statusCode, ignored.length, ignoredMore], [200, 20, 980]);
  assert.deepEqual(await countOf(world, 'pushes'), { accepted: 0, ignored: 1_000 });
});

test('an answer lists at most 20 ignored entries, counts the others, and truncates names', async (t) => {
  const world = await startApp(t, { provider: quay });
  const deliver = async (tags: unknown[]) => {
    const body = JSON.stringify({ docker_url: 'quay.io/team/api', updated_tags: tags });
    return (await post(world, { url: '/webhooks/prod/s3cret', body })).json<{
      accepted: object[];
      ignored: object[];
      ignoredMore?: number;
    }>();
  };
  const junk = Array.from({ length: 20 }, () => 7);
  const all = await deliver(['1.0', ...junk]);
  assert.deepEqual([all.accepted.length, all.ignored.length, 'ignoredMore' in all], [1, 20, false]);
  const some = await deliver([...junk, '1.0', 'x'.repeat(100_000)]);
  assert.deepEqual([some.accepted.length, some.ignored.length, some.ignoredMore], [1, 20, 1]);
  const { ignored } = await deliver(['x'.repeat(100_000)]);
  assert.deepEqual(ignored, [{ reason: 'not a valid tag', repository: 'team/api', tag: 'x'.repeat(256) }]);
});

test('a receiver answers 429 with Retry-After beyond its limit, which both forms of its URL share and strangers do not use up', async (t) => {
  const receiver = { provider: distribution, unauthenticated: false, secrets: () => ['s3cret'] };
  const receivers = ['prod', 'test'].map((name) => ({ ...receiver, name }));
  const world = await startApp(t, {}, { receivers, requestsPerMinute: 2 });
  for (let stranger = 0; stranger < 5; stranger++) assert.equal((await post(world, { headers: { authorization: 'x' } })).statusCode, 401);
  assert.equal((await post(world)).statusCode, 200);
  assert.equal((await post(world, { url: '/webhooks/prod/s3cret' })).statusCode, 200);
  for (const url of ['/webhooks/prod', '/webhooks/prod/s3cret']) {
    const response = await post(world, { url });
    assert.deepEqual([response.statusCode, response.json()], [429, { error: 'too many requests' }]);
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
  }
  assert.equal((await post(world, { url: '/webhooks/test' })).statusCode, 200);
});

const failures: [name: string, options: Parameters<typeof startApp>[2]][] = [
  ['Redis rejects', { storePushes: () => Promise.reject(new Error('OOM command not allowed')) }],
  ['Redis never answers', { storePushes: () => new Promise<never>(() => undefined) }],
  ['Redis is nearly full', { refusal: () => 'Redis uses 81 % of its maxmemory' }],
];

for (const [name, options] of failures) {
  test(`a receiver answers 503 with Retry-After when ${name}`, { timeout: 10_000 }, async (t) => {
    const world = await startApp(t, {}, options);
    const response = await post(world);
    assert.deepEqual([response.statusCode, response.json()], [503, { error: 'try again later' }]);
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
    assert.ok(world.logged.some((line) => line.includes('"level":"warn"') && line.includes('delivery refused')));
    assert.deepEqual(await countOf(world, 'deliveries'), { 503: 1 });
  });
}

test('a confirmation or refusal of Redis after the answer logs no error', { timeout: 10_000 }, async (t) => {
  const { promise, reject } = Promise.withResolvers<never>();
  const world = await startApp(t, {}, { storePushes: () => promise });
  assert.equal((await post(world)).statusCode, 503);
  reject(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    world.logged.filter((line) => line.includes('"level":"error"')),
    [],
  );
});

test('a receiver answers 500 to a bug, whose details are logged and not sent', async (t) => {
  const broken: Provider = {
    ...distribution,
    parse: () => {
      throw new TypeError('x is not a function');
    },
  };
  const world = await startApp(t, { provider: broken });
  const response = await post(world);
  assert.deepEqual([response.statusCode, response.json()], [500, { error: 'internal error' }]);
  assert.ok(world.logged.some((line) => line.includes('"level":"error"') && line.includes('x is not a function')));
});
