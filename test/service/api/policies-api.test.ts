import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import { ActionRefused, type PolicyPorts } from '../../../src/service/api/ports.ts';
import { routes } from '../../../src/service/api/routes/index.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { appliedOnce, digestOf, policyOf } from '../../core/model/samples.ts';
import { startApi } from './fake-events.ts';
import { ann, type Patched, pending, samplePolicies, samplePorts } from './sample-policies.ts';

function start(t: TestContext, auth: OperationsAuth = { kind: 'none' }, more: Partial<PolicyPorts> = {}) {
  const patched: Patched[] = [];
  const policies = samplePorts(patched, more);
  const { app, logged } = startApi(t, auth, [], { policies });
  const headers = { host: 'localhost:9090', authorization: 'Bearer anns-token', 'content-type': 'application/json' };
  return {
    patched,
    logged,
    async get(path: string, own: Record<string, string> = {}) {
      const { statusCode, headers: sent, body } = await app.inject({ url: `/api/v1${path}`, headers: { ...headers, ...own } });
      return {
        status: statusCode,
        headers: sent,
        text: body,
        body: (body === '' ? {} : JSON.parse(body)) as List,
      };
    },
    async post(path: string, payload?: object) {
      const { statusCode, json } = await app.inject({
        method: 'POST',
        url: `/api/v1/policies/${path}`,
        headers,
        ...(payload && { payload: JSON.stringify(payload) }),
      });
      return { status: statusCode, body: json<{ requested?: string; detail?: string }>() };
    },
  };
}

/** A page of policies, or an error. */
interface List {
  readonly policies: readonly { readonly name: string; readonly namespace: string; readonly state: string }[];
  readonly counts: Record<string, number>;
  readonly next?: string;
  readonly detail?: string;
}

test('every state of a policy has its word, and the answer fits its schema', async (t) => {
  const { body } = await start(t).get('/policies');
  const list = routes.find(({ id }) => id === 'listPolicies');
  assert.ok(list?.answer.safeParse(body).success, JSON.stringify(list?.answer.safeParse(body).error?.issues));
  assert.deepEqual(
    body.policies.map(({ namespace, name, state }) => `${namespace}/${name} ${state}`),
    [
      'ops/other Unknown',
      'shop/approval ApprovalRequired',
      'shop/failed Failed',
      'shop/held Held',
      'shop/progressing Progressing',
      'shop/ready Ready',
      'shop/stalled Stalled',
      'shop/suspended Suspended',
      'shop/unknown Unknown',
      'shop/unreadable Unknown',
      'shop/waiting Waiting',
    ],
  );
});

test('policies are filtered by namespace, state and text, and counted', async (t) => {
  const { get } = start(t);
  const names = async (query: string) => (await get(`/policies?${query}`)).body.policies.map(({ name }) => name);
  assert.deepEqual(await names('namespace=ops'), ['other']);
  assert.deepEqual(await names('state=Failed'), ['failed']);
  assert.deepEqual(await names('search=SHOP/S'), ['stalled', 'suspended']);
  assert.deepEqual(await names('search=1.2.3'), ['ready']);
  const { counts } = (await get('/policies?namespace=shop&state=Ready')).body;
  assert.deepEqual([counts['Ready'], counts['Unknown'], counts['Failed']], [1, 2, 1]);
});

test('pages of policies follow each other without a gap', async (t) => {
  const { get } = start(t);
  const seen: string[] = [];
  let next: string | undefined = '';
  for (let page = 0; next !== undefined && page < 20; page++) {
    const { body }: { body: List } = await get(`/policies?limit=4${next === '' ? '' : `&after=${encodeURIComponent(next)}`}`);
    seen.push(...body.policies.map(({ namespace, name }) => `${namespace}/${name}`));
    ({ next } = body);
  }
  assert.deepEqual(seen, samplePolicies.map(({ namespace, name }) => `${namespace}/${name}`).toSorted());
});

test('policies are sorted by state and by last change, also over pages', async (t) => {
  const { get } = start(t, { kind: 'none' }, { all: () => [...samplePolicies, changedAt('early', '09'), changedAt('late', '11')] });
  const namesBy = async (sort: string) => {
    const names: string[] = [];
    for (let next: string | undefined = ''; next !== undefined;) {
      const { body } = await get(`/policies?sort=${sort}&limit=3${next && `&after=${encodeURIComponent(next)}`}`);
      names.push(...body.policies.map(({ name }) => name));
      next = body.next;
    }
    return names;
  };
  const byState = await namesBy('state');
  assert.deepEqual(byState.slice(0, 4), ['failed', 'stalled', 'approval', 'progressing']);
  const byChange = await namesBy('changed');
  assert.deepEqual(byChange.slice(0, 3), ['late', 'early', 'other']);
  for (const names of [byState, byChange]) assert.equal(new Set(names).size, samplePolicies.length + 2);
  assert.equal((await get('/policies?sort=size')).status, 400);
});

function changedAt(name: string, hour: string): ImagePolicy {
  const history = appliedOnce('1.2.3').map((entry) => ({ ...entry, at: `2026-03-01T${hour}:00:00Z` }));
  return policyOf({ name, uid: `uid-${name}`, status: { history } });
}

for (const [name, query] of [
  ['a state that is none', 'state=Lost'],
  ['no number', 'limit=many'],
  ['too many', 'limit=501'],
  ['an unknown parameter', 'tag=1'],
  ['a page that is none', 'after=yesterday'],
  ['a namespace that is none', 'namespace=A%20B'],
] as const) {
  test(`a request for policies with ${name} is answered 400`, async (t) => {
    const { status, body } = await start(t).get(`/policies?${query}`);
    assert.equal(status, 400);
    assert.match(body.detail ?? '', new RegExp(query.split('=')[0] ?? ''));
  });
}

test('a caller sees the policies of namespaces in which the caller may list them', async (t) => {
  const { get } = start(t, ann('list ops', 'get ops'));
  assert.deepEqual(
    (await get('/policies')).body.policies.map(({ name }) => name),
    ['other'],
  );
  assert.equal((await get('/policies?namespace=shop')).status, 403);
  assert.equal((await get('/policies/ops/other')).status, 200);
  assert.equal((await get('/policies/shop/ready')).status, 403);
  assert.equal((await get('/policies/ops/nobody')).status, 404);
  for (const path of ['/receivers', '/registries']) assert.equal((await get(path)).status, 403, path);
});

test('the answer about one policy fits its schema, whatever the state of the policy', async (t) => {
  const { get } = start(t);
  const schema = routes.find(({ id }) => id === 'getPolicy')?.answer;
  for (const { namespace, name } of samplePolicies) {
    const { body } = await get(`/policies/${namespace}/${name}`);
    const read = schema?.safeParse(body);
    assert.ok(read?.success, `${name}: ${JSON.stringify(read?.error?.issues)}`);
  }
});

test('the resource of a policy is shown to callers who may get the policy', async (t) => {
  const { get } = start(t, ann('get ops'));
  const { status, text } = await get('/policies/ops/other/resource');
  assert.deepEqual([status, JSON.parse(text)], [200, { metadata: { namespace: 'ops', name: 'other' }, spec: {} }]);
  assert.equal((await get('/policies/shop/ready/resource')).status, 403);
});

for (const [name, auth, noActions, expected] of [
  ['who may list all policies and act', ann('list *'), undefined, { user: 'ann', listsAll: true }],
  ['who may not list all policies', ann('list shop'), undefined, { user: 'ann', listsAll: false }],
  ['whose actions are off', ann('list *'), 'actions are off', { user: 'ann', listsAll: true, noActions: 'actions are off' }],
] as const) {
  test(`the API tells a caller ${name} about it`, async (t) => {
    assert.deepEqual(JSON.parse((await start(t, auth, { noActions }).get('/caller')).text), expected);
  });
}

test('a user that the trusted proxy names is known beside tokens, and cannot act', async (t) => {
  const proxy = {
    userHeader: 'X-Forwarded-User',
    secretHeader: 'X-Proxy-Secret',
    secret: () => 'what the proxy knows',
    trustedPeers: ['127.0.0.1'],
  };
  const { get, post } = start(t, { ...ann('list shop'), proxy } as OperationsAuth);
  const named = (secret: string) => ({ 'x-proxy-secret': secret, 'x-forwarded-user': 'eve' });
  const { user, noActions } = JSON.parse((await get('/caller', named('what the proxy knows'))).text) as {
    user: string;
    noActions?: string;
  };
  assert.equal(user, 'eve');
  assert.match(noActions ?? '', /need a token/);
  // A wrong secret is refused, although the token beside it is known.
  assert.equal((await get('/caller', named('a guess'))).status, 401);
  assert.equal((await get('/caller')).status, 200);
  assert.equal((await post('shop/ready/check')).status, 403);
});

test('an answer that the caller has already is answered 304', async (t) => {
  const { get } = start(t);
  const first = await get('/policies');
  const tag = String(first.headers['etag']);
  assert.equal(first.headers['cache-control'], 'private, no-cache');
  const again = await get('/policies', { 'if-none-match': `"other", ${tag}` });
  assert.deepEqual([again.status, again.text], [304, '']);
  assert.equal((await get('/policies?namespace=ops', { 'if-none-match': tag })).status, 200);
});

test('a request for policies is answered 503 without the role work, and until all policies are known', async (t) => {
  assert.equal((await start(t, { kind: 'none' }, { areKnown: () => false }).get('/policies')).status, 503);
});

test('the overview counts the policies that the caller may see', async (t) => {
  const { text, body } = await start(t).get('/overview');
  const { policies } = JSON.parse(text) as { policies: Record<string, number> };
  assert.deepEqual([policies['Ready'], policies['Unknown']], [1, 3]);
  const schema = routes.find(({ id }) => id === 'getOverview')?.answer;
  assert.ok(schema?.safeParse(body).success);
});

const prefix = 'operator.technomad.dev';
const annotated = (name: string, value: string, action: string, reason?: string) => ({
  metadata: {
    annotations: {
      [`${prefix}/${name}`]: value,
      [`${prefix}/requested-by`]: `${action} ${value} ann`,
      [`${prefix}/request-reason`]: reason === undefined ? null : `${action} ${value} ${reason}`,
    },
  },
});
const noon = '2026-03-01T12:00:00.000Z';

/** A policy that waits until another one has run its image for long enough. */
const proving = policyOf({
  name: 'proving',
  status: {
    latest: { ...pending, selectedAt: noon },
    waiting: { ...pending, until: '2026-03-01T13:00:00Z', reason: 'NotProven' },
    follows: [{ namespace: 'shop', name: 'staging', ...pending, since: noon }],
  },
});
const findOrProving = (...names: readonly [namespace: string, name: string]) =>
  names[1] === 'proving' ? proving : samplePorts([]).find(...names);

const actionRows: [path: string, payload: object, body: object][] = [
  ['approval/approve', pending, annotated('approve', `1.3.0@${digestOf('b')}`, 'approve')],
  ['ready/rollback', {}, annotated('rollback-to', `previous ${noon}`, 'rollback')],
  ['ready/rollback', { to: '1.0.0' }, annotated('rollback-to', `1.0.0 ${noon}`, 'rollback')],
  ['ready/rollback', { reason: ' payments fail ' }, annotated('rollback-to', `previous ${noon}`, 'rollback', 'payments fail')],
  ['held/release', {}, annotated('release', noon, 'release')],
  ['held/release', { at: '2026-04-01T00:00:00Z' }, annotated('release', '2026-04-01T00:00:00Z', 'release')],
  ['proving/promote', { ...pending, reason: 'outage' }, annotated('promote', `1.3.0@${digestOf('b')} ${noon}`, 'promote', 'outage')],
  ['ready/hold', {}, { metadata: { annotations: { [`${prefix}/hold`]: `${noon} ann` } } }],
  ['ready/hold', { reason: 'sale' }, { metadata: { annotations: { [`${prefix}/hold`]: `${noon} ann\nsale` } } }],
  ['ready/check', {}, annotated('requested-at', noon, 'check')],
  ['ready/suspend', {}, { spec: { suspend: true } }],
  ['suspended/resume', {}, { spec: { suspend: false } }],
];

for (const [path, payload, body] of actionRows) {
  test(`the action ${path} with ${JSON.stringify(payload)} writes what the command writes`, async (t) => {
    const { post, patched, logged } = start(t, ann('get shop'), { find: findOrProving });
    assert.equal((await post(`shop/${path}`, payload)).status, 202);
    assert.deepEqual(patched, [{ policy: `shop/${path.split('/')[0]}`, caller: 'token', body }]);
    assert.ok(logged.some((line) => line.includes('"action requested"') && line.includes('"user":"ann"')));
  });
}

for (const [name, path, payload, status] of [
  ['nothing waits', 'ready/approve', pending, 409],
  ['another digest waits', 'approval/approve', { ...pending, digest: digestOf('c') }, 409],
  ['nothing waits for its proof', 'ready/promote', pending, 409],
  ['another digest waits for its proof', 'proving/promote', { ...pending, digest: digestOf('c') }, 409],
  ['another tag waits for its proof', 'proving/promote', { ...pending, tag: '1.2.9' }, 409],
  ['the image to promote is missing', 'proving/promote', {}, 400],
  ['the digest is missing', 'approval/approve', { tag: '1.3.0' }, 400],
  ['the tag is none', 'ready/rollback', { to: '../..' }, 400],
  ['a suspended policy would be rolled back only later', 'suspended/rollback', {}, 409],
  ['something else is sent', 'ready/check', { force: true }, 400],
  ['the reason is too long', 'ready/check', { reason: 'x'.repeat(301) }, 400],
  ['the time is none', 'held/release', { at: 'tomorrow' }, 400],
  ['there is no such policy', 'nobody/check', {}, 404],
] as const) {
  test(`an action writes nothing where ${name}`, async (t) => {
    const { post, patched } = start(t, { kind: 'none' }, { find: findOrProving });
    const { status: found, body } = await post(`shop/${path}`, payload);
    assert.deepEqual([found, patched], [status, []]);
    assert.ok(body.detail);
  });
}

test('an action is answered with the reason why actions are off, or with the refusal of the API server', async (t) => {
  const off = await start(t, { kind: 'none' }, { noActions: 'actions are off' }).post('shop/ready/check');
  assert.deepEqual([off.status, off.body.detail], [403, 'actions are off']);
  const patch = () => Promise.reject(new ActionRefused(403, 'ann cannot patch imagepolicies'));
  const refused = await start(t, { kind: 'none' }, { patch }).post('shop/ready/check');
  assert.deepEqual([refused.status, refused.body.detail], [403, 'ann cannot patch imagepolicies']);
});

interface Chain {
  readonly allowed: boolean;
  readonly summary: string;
  readonly steps: readonly { readonly id: string; readonly result: string; readonly text: string; readonly page?: string }[];
  readonly targets: readonly { readonly steps: Chain['steps'] }[];
}

test('the API explains a policy as the command does, also for a push', async (t) => {
  const { get } = start(t);
  const explain = async (query: string) => {
    const { status, text } = await get(`/policies/${query}`);
    const body = JSON.parse(text) as Chain;
    assert.ok(status !== 200 || routes.find(({ id }) => id === 'explainPolicy')?.answer.safeParse(body).success, text);
    return { status, body };
  };
  const { body: now } = await explain('shop/ready/explain');
  assert.deepEqual([now.allowed, now.steps.map(({ id }) => id)[0]], [true, 'namespace']);
  const { body: pushed } = await explain(`shop/ready/explain?push=${encodeURIComponent('registry.example.com/shop/web:1.3.0')}`);
  assert.deepEqual([pushed.allowed, pushed.summary], [true, 'a push of 1.3.0 would change 1 container']);
  assert.ok(pushed.targets[0]?.steps.some(({ text }) => text.includes('would be changed from')));
  const { body: off } = await explain('shop/suspended/explain');
  const last = off.steps.at(-1);
  assert.deepEqual([off.allowed, last?.id, last?.result, last?.page?.split('#')[1]], [false, 'spec', 'stop', 'suspended']);
  for (const push of ['web', 'no-such-event-id', 'registry.example.com/shop/web'])
    assert.equal((await explain(`shop/ready/explain?push=${encodeURIComponent(push)}`)).status, 404, push);
});
