import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../../../src/service/api/access.ts';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import { ignoredOf, recordOf, startApi, type TestApi, eventTime } from './fake-events.ts';

const open: OperationsAuth = { kind: 'none' };
const records = [
  recordOf('queued', 9, {}, 'queued'),
  recordOf('two', 8, { 'shop/web': 'updated', 'ops/web': 'stalled' }),
  recordOf('nobody', 7, {}, 'unwatched'),
  recordOf('half', 6, { 'shop/web': 'updated', 'shop/api': undefined }),
  recordOf('one', 5, { 'shop/web': 'unchanged' }),
];

/** Ann may do these things; `*` is all namespaces. */
function ann(...rights: string[]): OperationsAuth {
  return {
    kind: 'kubernetes',
    reviewToken: (token) => Promise.resolve(token === 'anns-token' ? { user: 'ann', groups: ['shop'] } : undefined),
    reviewAccess: (_caller, { verb, namespace = '*' }: Question) => Promise.resolve(rights.includes(`${verb} ${namespace}`)),
  };
}

const bearer = { authorization: 'Bearer anns-token' };
const local = { host: 'localhost:9090' };

type Listed = { id: string; outcome: string; policies: { name: string }[] };

async function get({ app }: TestApi, url: string, headers: Record<string, string> = { ...bearer, ...local }) {
  const response = await app.inject({ url, headers });
  const body = response.json<{ events?: Listed[]; next?: string; detail?: string }>();
  return { status: response.statusCode, headers: response.headers, body, ids: body.events?.map(({ id }) => id) };
}

test('the API lists all events, newest first, each with its results', async (t) => {
  const api = startApi(t, open, records);
  const { status, body, headers } = await get(api, '/api/v1/events');
  assert.equal(status, 200);
  assert.equal(headers['cache-control'], 'private, no-cache');
  assert.deepEqual(
    body.events?.map(({ id, outcome }) => `${id} ${outcome}`),
    ['queued queued', 'two stalled', 'nobody unwatched', 'half working', 'one unchanged'],
  );
  assert.deepEqual(body.events?.[4], {
    id: 'one',
    receiver: 'prod',
    provider: 'harbor',
    registry: 'r.example.com',
    repository: 'shop/web',
    tag: '1.0.0',
    receivedAt: '2026-03-01T12:00:05.000Z',
    outcome: 'unchanged',
    policies: [
      {
        namespace: 'shop',
        name: 'web',
        outcome: 'unchanged',
        reason: 'Updated',
        message: 'unchanged!',
        at: '2026-03-01T12:00:05.000Z',
        afterMs: 5,
      },
    ],
  });
});

test('the API lists events page by page', async (t) => {
  const api = startApi(t, open, records);
  const first = await get(api, '/api/v1/events?limit=2');
  assert.deepEqual([first.ids, first.body.next], [['queued', 'two'], `${eventTime + 8_000}-two`]);
  const second = await get(api, `/api/v1/events?limit=3&before=${first.body.next}`);
  assert.deepEqual(second.ids, ['nobody', 'half', 'one']);
  const third = await get(api, `/api/v1/events?limit=3&before=${second.body.next}`);
  assert.deepEqual([third.ids, third.body.next], [[], undefined]);
});

test('events are filtered by their outcome or that of one of their policies', async (t) => {
  const api = startApi(t, open, records);
  assert.deepEqual((await get(api, '/api/v1/events?outcome=updated')).ids, ['two', 'half']);
  assert.deepEqual((await get(api, '/api/v1/events?outcome=unwatched')).ids, ['nobody']);
  assert.deepEqual((await get(api, '/api/v1/events?outcome=failed')).ids, []);
});

test('events are filtered by policy, by receiver, and by the time of receipt', async (t) => {
  const api = startApi(t, open, records);
  assert.equal((await get(api, '/api/v1/events?receiver=another')).ids?.length, 0);
  assert.deepEqual((await get(api, '/api/v1/events?policy=shop/web')).ids, ['two', 'half', 'one']);
  assert.deepEqual((await get(api, '/api/v1/events?policy=shop%2Fweb&outcome=unchanged')).ids, ['one']);
  assert.deepEqual((await get(api, '/api/v1/events?policy=shop/we')).ids, []);
  const since = await get(api, `/api/v1/events?since=${encodeURIComponent('2026-03-01T13:00:07+01:00')}`);
  assert.deepEqual([since.ids, since.body.next], [['queued', 'two', 'nobody'], undefined]);
  const page = await get(api, '/api/v1/events?policy=shop/web&since=2026-03-01T12:00:06Z&limit=1');
  assert.deepEqual(page.ids, ['two']);
  assert.deepEqual((await get(api, `/api/v1/events?policy=shop/web&since=2026-03-01T12:00:06Z&before=${page.body.next}`)).ids, ['half']);
});

test('a policy of a namespace that the caller may not see has no events', async (t) => {
  const api = startApi(t, ann('get shop'), records);
  assert.deepEqual((await get(api, '/api/v1/events?policy=ops/web')).ids, []);
  assert.deepEqual((await get(api, '/api/v1/events?policy=shop/web')).ids, ['two', 'half', 'one']);
});

test('a search for a rare outcome reads a bounded part of the list at a time', async (t) => {
  const many = Array.from({ length: 5_000 }, (_, index) =>
    recordOf(`e${index}`, -index, { 'shop/web': index === 4_500 ? 'failed' : 'updated' }),
  );
  const api = startApi(t, open, many);
  const found: string[] = [];
  let pages = 0;
  for (let next: string | undefined = ''; next !== undefined && pages < 10; pages++) {
    const page: Awaited<ReturnType<typeof get>> = await get(api, `/api/v1/events?outcome=failed${next === '' ? '' : `&before=${next}`}`);
    found.push(...(page.ids ?? []));
    next = page.body.next;
  }
  assert.deepEqual([found, pages], [['e4500'], 3]);
});

for (const [name, url] of [
  ['no number', '/api/v1/events?limit=many'],
  ['too many', '/api/v1/events?limit=501'],
  ['an outcome that is none', '/api/v1/events?outcome=lost'],
  ['a repository that is none', '/api/v1/events?repository=%20%20'],
  ['a place that is none', '/api/v1/events?before=yesterday'],
  ['a policy without a namespace', '/api/v1/events?policy=web'],
  ['a time that is none', '/api/v1/events?since=yesterday'],
  ['a duration as a time', '/api/v1/events?since=1h'],
  ['an unknown question', '/api/v1/events?tag=1'],
  ['an id that is none', '/api/v1/events/a%20b'],
] as const) {
  test(`a request for events with ${name} is answered 400`, async (t) => {
    const { status, body } = await get(startApi(t, open, records), url);
    assert.equal(status, 400);
    assert.ok(body.detail);
  });
}

test('the requested repository is normalised before events are filtered by it', async (t) => {
  const asked: unknown[] = [];
  const reader = {
    get: () => Promise.resolve(undefined),
    async *list({ repository }: { repository?: string | undefined }) {
      asked.push(repository);
      yield await Promise.resolve([]);
    },
  };
  const api = startApi(t, open, [], { reader, aliases: new Map([['mirror.local:5000', 'r.example.com']]) });
  for (const name of ['nginx', 'R.example.com:443/Shop/web', 'mirror.local:5000/shop/web:1.0'])
    await get(api, `/api/v1/events?repository=${encodeURIComponent(name)}`);
  assert.deepEqual(asked, ['docker.io/library/nginx', 'r.example.com/shop/web', 'r.example.com/shop/web']);
});

test('a user who may get the policies of one namespace sees only their results', async (t) => {
  const api = startApi(t, ann('get shop'), records);
  const { body } = await get(api, '/api/v1/events');
  assert.deepEqual(
    body.events?.map(({ id, outcome, policies }) => `${id} ${outcome} ${policies.map(({ name }) => name).join()}`),
    ['two updated web', 'half working web,api', 'one unchanged web'],
  );
  assert.deepEqual((await get(api, '/api/v1/events?outcome=stalled')).ids, []);
  for (const id of ['queued', 'nobody', 'missing']) assert.equal((await get(api, `/api/v1/events/${id}`)).status, 404, id);
  assert.equal((await get(api, '/api/v1/events/two')).status, 200);
});

test('a user without permissions sees nothing, and one who may list all policies sees all events', async (t) => {
  assert.deepEqual((await get(startApi(t, ann(), records), '/api/v1/events')).ids, []);
  const all = ['queued', 'two', 'nobody', 'half', 'one'];
  assert.deepEqual((await get(startApi(t, ann('list *'), records), '/api/v1/events')).ids, all);
});

const withIgnored = [
  recordOf('queued', 9, {}, 'queued'),
  ignoredOf('nameless', 8, { reason: 'Malformed', message: 'not understood: the body is not JSON', count: 12 }),
  ignoredOf('named', 7, { registry: 'r.example.com', repository: 'shop/web' }),
  recordOf('two', 6, { 'shop/web': 'ignored' }),
];

test('the API shows what a receiver ignored with its reason, and finds it by outcome', async (t) => {
  const api = startApi(t, open, withIgnored);
  assert.deepEqual((await get(api, '/api/v1/events')).ids, ['queued', 'nameless', 'named', 'two']);
  const { body, ids } = await get(api, '/api/v1/events?outcome=ignored');
  assert.deepEqual(ids, ['nameless', 'named', 'two']);
  assert.deepEqual(body.events?.[0], {
    id: 'nameless',
    receiver: 'prod',
    provider: 'harbor',
    receivedAt: '2026-03-01T12:00:08.000Z',
    outcome: 'ignored',
    reason: 'Malformed',
    message: 'not understood: the body is not JSON',
    count: 12,
    policies: [],
  });
});

test('the API shows what a receiver ignored only to users who may list all policies', async (t) => {
  for (const rights of [[], ['get shop'], ['get shop', 'list shop', 'update shop'], ['get *']]) {
    const api = startApi(t, ann(...rights), withIgnored);
    const { ids } = await get(api, '/api/v1/events?outcome=ignored');
    assert.deepEqual(ids, rights.length === 0 ? [] : ['two'], rights.join());
    for (const id of ['nameless', 'named']) assert.equal((await get(api, `/api/v1/events/${id}`)).status, 404);
  }
  const api = startApi(t, ann('list *'), withIgnored);
  assert.deepEqual((await get(api, '/api/v1/events')).ids, ['queued', 'nameless', 'named', 'two']);
  assert.equal((await get(api, '/api/v1/events/named')).status, 200);
});

test('a request without a token, with a wrong one or another scheme is answered 401', async (t) => {
  const api = startApi(t, ann('get *'), records);
  for (const authorization of ['', 'Bearer', 'Bearer other', 'Basic anns-token', 'Bearer a b']) {
    const { status, headers } = await get(api, '/api/v1/events', { authorization });
    assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer'], authorization);
  }
  assert.equal((await api.app.inject({ url: '/livez' })).statusCode, 200);
});

test('a request is answered 503 when the API server or Redis does not answer', async (t) => {
  const auth: OperationsAuth = {
    kind: 'kubernetes',
    reviewToken: () => Promise.reject(new Error('connection refused')),
    reviewAccess: () => Promise.resolve(true),
  };
  const away = await get(startApi(t, auth, records), '/api/v1/events');
  assert.deepEqual([away.status, away.headers['retry-after']], [503, '5']);
  assert.ok(!JSON.stringify(away.body).includes('refused'));
  const unavailable = await get(startApi(t, { kind: 'unavailable', why: 'this process has not the role work' }, records), '/api/v1/events');
  assert.deepEqual([unavailable.status, unavailable.body.detail], [503, 'this process has not the role work']);
  const reader = {
    get: () => Promise.reject(new Error('closed')),
    list: () => {
      throw new Error('closed');
    },
  };
  for (const url of ['/api/v1/events', '/api/v1/events/a']) assert.equal((await get(startApi(t, open, [], { reader }), url)).status, 503);
});

test('access reviews are cached for ten seconds, and their failures not at all', async (t) => {
  let asked = 0;
  let now = eventTime;
  const auth: OperationsAuth = {
    kind: 'kubernetes',
    reviewToken: () => (++asked === 1 ? Promise.reject(new Error('away')) : Promise.resolve({ user: 'ann', groups: [] })),
    reviewAccess: () => Promise.resolve(++asked > 0),
  };
  const api = startApi(t, auth, records, { elapsed: () => now });
  assert.equal((await get(api, '/api/v1/events')).status, 503);
  for (let time = 0; time < 5; time++) await get(api, '/api/v1/events');
  assert.equal(asked, 3, 'one token, and list in all namespaces');
  now += 10_000;
  await get(api, '/api/v1/events');
  assert.equal(asked, 5);
});

test('without authentication the API answers only under a loopback name', async (t) => {
  const api = startApi(t, open, records);
  for (const host of ['localhost:9090', '127.0.0.1', '[::1]:9090'])
    assert.equal((await get(api, '/api/v1/events', { host })).status, 200, host);
  for (const host of ['attacker.example.com', 'localhost.example.com:9090'])
    assert.equal((await get(api, '/api/v1/events', { host })).status, 403, host);
});

async function replay({ app }: TestApi, id: string, headers: Record<string, string> = {}) {
  const response = await app.inject({
    method: 'POST',
    url: `/api/v1/events/${id}/replay`,
    headers: { ...bearer, ...local, 'content-type': 'application/json', ...headers },
  });
  return { status: response.statusCode, body: response.json<{ id?: string; replayOf?: string; detail?: string }>() };
}

test('a replay is answered 202 and causes a new event', async (t) => {
  const api = startApi(t, open, records);
  const [first, second] = [await replay(api, 'one'), await replay(api, 'one')];
  assert.deepEqual([first.status, first.body.replayOf], [202, 'one']);
  assert.notEqual(first.body.id, second.body.id);
  assert.deepEqual(api.stored[0], { ...records[4]?.event, id: first.body.id, replayOf: 'one', receivedAt: '2026-03-01T12:00:00.000Z' });
  assert.ok(api.logged.some((line) => line.includes('event replayed')));
});

test('a replay needs permission to update the policies that the event matched', async (t) => {
  const rights = ['get shop', 'get ops', 'list *'];
  assert.equal((await replay(startApi(t, ann(...rights, 'update shop'), records), 'one')).status, 202);
  const denied = await replay(startApi(t, ann(...rights, 'update shop'), records), 'two');
  assert.deepEqual(
    [denied.status, denied.body.detail],
    [403, 'to replay this event you need permission to update imagepolicies in the namespace ops'],
  );
  const unseen = await replay(startApi(t, ann('get shop', 'update shop'), records), 'two');
  assert.deepEqual(
    [unseen.status, unseen.body.detail],
    [403, 'to replay this event you need permission to update imagepolicies in all namespaces'],
  );
  assert.equal((await replay(startApi(t, ann(...rights, 'update *'), records), 'two')).status, 202);
  assert.equal((await replay(startApi(t, ann(...rights, 'update shop'), records), 'nobody')).status, 403);
  assert.equal((await replay(startApi(t, ann(...rights, 'update *'), records), 'nobody')).status, 202);
  const api = startApi(t, ann('update *'), records);
  for (const id of ['one', 'missing']) assert.equal((await replay(api, id)).status, 404);
  assert.deepEqual(api.stored, []);
});

test('a replay of something that a receiver ignored is answered 409', async (t) => {
  const api = startApi(t, ann('list *', 'update *'), withIgnored);
  const { status, body } = await replay(api, 'nameless');
  assert.equal(status, 409);
  assert.match(body.detail ?? '', /^a receiver ignored this event.*Malformed: not understood: the body is not JSON.*push again$/);
  assert.equal((await replay(startApi(t, ann('get shop', 'update *'), withIgnored), 'nameless')).status, 404);
  assert.deepEqual(api.stored, []);
});

test('a POST is accepted only as JSON, and only from pages of this host', async (t) => {
  const api = startApi(t, open, records);
  assert.equal((await replay(api, 'one', { origin: 'http://localhost:9090' })).status, 202);
  for (const origin of ['http://attacker.example.com', 'http://localhost:9091', 'null', 'x'])
    assert.equal((await replay(api, 'one', { origin })).status, 403, origin);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])
    assert.equal((await replay(api, 'one', { 'content-type': type })).status, 415, type);
  const bare = await api.app.inject({ method: 'POST', url: '/api/v1/events/one/replay', headers: local });
  assert.equal(bare.statusCode, 415);
  assert.equal(api.stored.length, 1);
});

test('a replay is answered 503 when Redis is full or does not store', async (t) => {
  const full = startApi(t, open, records, { refusal: () => 'Redis uses 81 % of its maxmemory' });
  assert.equal((await replay(full, 'one')).status, 503);
  const away = startApi(t, open, records, { storePushes: () => Promise.reject(new Error('away')) });
  assert.equal((await replay(away, 'one')).status, 503);
});
