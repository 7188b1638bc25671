/** What the dashboard answers, without a browser and without JavaScript: pages, forms, sign-in, and who is let in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionRefused } from '../../src/service/api/ports.ts';
import { createSeal } from '../../src/dashboard/session.ts';
import { ignoredOf, recordOf } from '../service/api/fake-events.ts';
import { waitFor } from '../harness/wait-for.ts';
import { ann, pending, samplePolicies } from '../service/api/sample-policies.ts';
import { digestOf, policyOf } from '../core/model/samples.ts';
import { openDashboard, sessions } from './start-dashboard.ts';

const records = [
  recordOf('event-number-00001', 5, { 'shop/ready': 'updated', 'ops/other': 'unchanged' }),
  ignoredOf('event-number-00002', 4),
];
const everyPage = [
  '/',
  '/policies',
  '/policies?search=shop&state=Failed&sort=changed',
  ...samplePolicies.map(({ namespace, name }) => `/policies/${namespace}/${name}`),
  '/policies/shop/ready?push=registry.example.com%2Fshop%2Fweb%3A1.3.0',
  '/policies/shop/ready/yaml',
  '/policies/shop/approval/approve',
  '/policies/shop/ready/rollback',
  '/policies/shop/suspended/resume',
  '/events',
  '/events?outcome=updated',
  '/approvals',
  '/setup',
];

for (const language of ['en', 'zh-CN,zh;q=0.9'])
  test(`every page is shown in ${language}, with nothing that its security policy forbids`, async (t) => {
    const { get } = openDashboard(t, { records });
    for (const url of everyPage) {
      const { status, headers, text } = await get(url, { 'accept-language': language });
      assert.equal(status, 200, `${url}: ${text}`);
      assert.match(String(headers['content-security-policy']), /default-src 'none'; script-src 'self'; style-src 'self'/);
      assert.doesNotMatch(text, /<[^>]+\s(?:style|on\w+)=|<script>|<style|javascript:|undefined|\[object|NaN/, url);
      assert.match(text, language === 'en' ? /<html lang="en">/ : /<html lang="zh-CN">/);
    }
  });

test('pages show texts of others as text', async (t) => {
  const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>'`;
  const condition = {
    type: 'Stalled',
    status: 'True',
    reason: 'ImageUnusable',
    message: hostile,
    lastTransitionTime: '2026-03-01T11:00:00Z',
  } as const;
  const change = {
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    container: hostile,
    to: hostile,
    tag: hostile,
    trigger: 'Webhook',
    at: '2026-03-01T11:00:00Z',
    result: 'Failed',
  } as const;
  const policy = policyOf({ name: 'hostile', status: { conditions: [condition], running: hostile, history: [change] } });
  const read = () => Promise.resolve({ metadata: { namespace: 'shop', name: 'hostile', annotations: { note: hostile } }, spec: {} });
  const { get } = openDashboard(t, {
    policies: { all: () => [policy], find: () => policy, read },
    records: [ignoredOf('event-number-00003', 4, { message: hostile })],
  });
  for (const url of [
    '/',
    '/policies',
    '/policies/shop/hostile',
    `/policies/shop/hostile?push=${encodeURIComponent(hostile)}`,
    '/events',
    `/policies?search=${encodeURIComponent(hostile)}`,
    `/nowhere/${encodeURIComponent(hostile)}`,
  ]) {
    const { text } = await get(url);
    assert.doesNotMatch(text, /<img|<script>/, url);
  }
});

test('the page of a push shows which notifications about it were given up', async (t) => {
  const notice = { target: 'shop/team', kind: 'Updated', reason: 'Refused', at: '2026-03-01T12:00:06Z', message: 'was <b>' } as const;
  const record = { ...recordOf('event-number-00001', 5, { 'shop/ready': 'updated' }), givenUp: new Map([['shop/ready', [notice]]]) };
  const { get } = openDashboard(t, { records: [record] });
  assert.match((await get('/events')).text, /Updated was given up: the target shop\/team refused it: was &lt;b>/);
  assert.match((await get('/events', { 'accept-language': 'zh-CN' })).text, /通知 Updated 已放弃/);
});

test('a page that cannot be shown says why, also by its status', async (t) => {
  const { get } = openDashboard(t);
  for (const [url, status] of [
    ['/policies/shop/nobody', 404],
    ['/nowhere', 404],
  ] as const) {
    const answer = await get(url);
    assert.equal(answer.status, status, url);
    assert.match(answer.text, /role="alert"/);
    assert.match(answer.text, url === '/nowhere' ? /Back to the first page/ : /<nav/);
  }
  // The filters stay, so that they can be changed.
  for (const url of ['/policies?state=Lost', '/events?outcome=lost', '/events?before=yesterday', '/activity?digest=sha256']) {
    const { text } = await get(url);
    assert.match(text, /role="alert">[^<]*(?:one of|is )/, url);
    assert.match(text, /<form class="filters"/);
  }
  assert.equal((await openDashboard(t, { policies: { areKnown: () => false } }).get('/')).status, 503);
});

test('a page that the browser has in its cache is not sent again', async (t) => {
  const { get } = openDashboard(t);
  const { headers } = await get('/policies');
  assert.equal(headers['cache-control'], 'private, no-cache');
  const again = await get('/policies', { 'if-none-match': String(headers['etag']) });
  assert.deepEqual([again.status, again.text], [304, '']);
});

test('the choice of a language is remembered, and leads back to the page', async (t) => {
  const { get } = openDashboard(t);
  assert.equal((await get('/language?to=zh&back=%2Fpolicies%3Fstate%3DReady')).location, '/policies?state=Ready');
  assert.match((await get('/policies')).text, /<html lang="zh-CN">/);
});

test('a user signs in with a token, sees only what this user may see, and signs out', async (t) => {
  const { get, submit, cookies, logged } = openDashboard(t, { auth: ann('list shop', 'get shop'), identification: sessions });
  assert.equal((await get('/policies?state=Ready')).location, '/sign-in?back=%2Fpolicies%3Fstate%3DReady');
  const refused = await submit('/sign-in', { token: 'another', back: '/policies' });
  assert.equal(refused.status, 401);
  assert.match(refused.text, /does not know this token/);
  const signedIn = await submit('/sign-in', { token: 'anns-token', back: '/policies?state=Ready' });
  assert.deepEqual([signedIn.status, signedIn.location], [303, '/policies?state=Ready']);
  assert.match(String(signedIn.headers['set-cookie']), /^session\.0=.*; Path=\/; HttpOnly; SameSite=Lax$/);
  assert.ok(![...cookies.values()].some((value) => value.includes('anns-token')), 'the token can be read in the cookie');
  const { text } = await get('/policies');
  assert.match(text, /shop\/<\/span>ready/);
  assert.doesNotMatch(text, /ops\//);
  assert.equal((await get('/policies/ops/other')).status, 403);
  assert.match((await get('/setup')).text, /users who may list the policies of all namespaces/);
  assert.ok(logged.some((line) => line.includes('user signed in to the dashboard') && line.includes('"user":"ann"')));
  assert.ok(!logged.some((line) => line.includes('anns-token')));
  const left = await submit('/sign-out');
  assert.deepEqual([left.location, left.headers['clear-site-data']], ['/sign-in', '"cache"']);
  assert.equal(cookies.size, 0);
  assert.equal((await get('/policies')).status, 303);
});

test('a session that was changed, has expired or is of another process is not accepted', async (t) => {
  const { get, cookies } = openDashboard(t, { auth: ann('list *'), identification: sessions });
  const token = { kind: 'token', token: 'anns-token' } as const;
  for (const value of [
    'nonsense',
    await createSeal(() => 'another secret of the tests', 3_600_000).session.close(token),
    await createSeal(() => 'a secret of the tests', -5_000).session.close(token),
    await createSeal(() => 'a secret of the tests', 3_600_000).signIn.close({ state: '1', nonce: '2', verifier: '3', back: '/' }),
  ]) {
    cookies.set('session.0', value);
    assert.equal((await get('/')).status, 303);
  }
  cookies.set('session.0', await createSeal(() => 'a secret of the tests', 3_600_000).session.close(token));
  assert.equal((await get('/')).status, 200);
});

const act = async (t: Parameters<typeof openDashboard>[0], policies = {}) => {
  const opened = openDashboard(t, { auth: ann('list *', 'get *', 'patch *'), identification: sessions, policies });
  await opened.submit('/sign-in', { token: 'anns-token' });
  return opened;
};
const choice = (policy: string, digest = digestOf('b')) => ['choice', `${policy} 1.3.0 ${digest}`] as const;

test('an action is executed after a confirmation, with the token of the user', async (t) => {
  const { get, submit, patched } = await act(t);
  const { text } = await get('/policies/shop/approval/approve');
  assert.match(text, /method="post" action="\/policies\/shop\/approval\/approve"/);
  assert.match(text, new RegExp(`name="digest" value="${digestOf('b')}"`));
  assert.deepEqual(patched, []);
  const done = await submit('/policies/shop/approval/approve', pending);
  assert.deepEqual([done.status, done.location], [303, '/policies/shop/approval?done=approve']);
  assert.deepEqual(
    patched.map(({ policy, caller }) => [policy, caller]),
    [['shop/approval', 'token']],
  );
  assert.match((await get('/policies/shop/approval?done=approve')).text, /role="status">Requested: Approve/);
  for (const [path, form] of [
    ['ready/rollback', { to: '1.0.0', reason: 'payments fail' }],
    ['held/release', {}],
    ['ready/check', {}],
    ['ready/suspend', {}],
    ['suspended/resume', {}],
  ] as const)
    assert.equal((await submit(`/policies/shop/${path}`, form)).status, 303, path);
  assert.equal(patched.length, 6);
});

test('an approval is refused if another digest waits than the page has shown', async (t) => {
  const { submit, patched } = await act(t);
  const { status, text } = await submit('/policies/shop/approval/approve', { ...pending, digest: digestOf('c') });
  assert.equal(status, 409);
  assert.match(text, /waits for approval, and not/);
  assert.deepEqual(patched, []);
});

test('several images are approved in one request, and one that fails does not stop the others', async (t) => {
  const { get, submit, patched } = await act(t);
  const { text } = await get('/approvals');
  assert.ok(text.includes(`value="shop/approval 1.3.0 ${digestOf('b')}"`));
  const many = Array.from({ length: 500 }, (_, index) => choice(`shop/policy-${index}`));
  const asked = await submit('/approvals/confirm', many);
  assert.match(asked.text, /Approve these 500 images\?/);
  assert.equal((await submit('/approvals/confirm')).location, '/approvals?none=1');
  const result = await submit('/approvals', [choice('shop/approval', digestOf('c')), choice('shop/nobody'), choice('shop/approval')]);
  assert.match(result.text, /there is no ImagePolicy shop\/nobody/);
  assert.deepEqual(
    patched.map(({ policy }) => policy),
    ['shop/approval'],
  );
  for (const form of [[], [['choice', 'nonsense']]] as const)
    assert.equal((await submit('/approvals', form)).location, '/approvals?none=1');
});

test('the page of an action shows why the API server refused it', async (t) => {
  const patch = () => Promise.reject(new ActionRefused(403, 'ann cannot patch imagepolicies'));
  const { submit } = await act(t, { patch });
  const { status, text } = await submit('/policies/shop/ready/check');
  assert.equal(status, 403);
  assert.match(text, /ann cannot patch imagepolicies/);
});

test('pages without actions say why and show no buttons', async (t) => {
  const { get } = await act(t, { noActions: 'actions are off' });
  const { text } = await get('/policies/shop/ready');
  assert.match(text, /Read-only: actions are off/);
  assert.doesNotMatch(text, /class="button"/);
  assert.doesNotMatch((await get('/approvals')).text, /type="checkbox"/);
});

test('forms of other sites are refused', async (t) => {
  const { submit, patched } = await act(t);
  for (const headers of [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ])
    assert.equal((await submit('/policies/shop/ready/suspend', {}, headers)).status, 403, JSON.stringify(headers));
  assert.deepEqual(patched, []);
  assert.equal((await submit('/policies/shop/ready/suspend', {}, { origin: 'http://localhost:9090' })).status, 303);
});

test('the headers of an authenticating proxy are accepted, and those that a client adds are refused', async (t) => {
  const proxy = {
    userHeader: 'X-Forwarded-User',
    secretHeader: 'X-Proxy-Secret',
    secret: () => 'what the proxy knows',
    trustedPeers: ['127.0.0.1'],
  };
  const callers: string[] = [];
  const reviewAccess = ({ user }: { user: string }) => Promise.resolve(callers.push(user) > 0);
  const { get } = openDashboard(t, {
    auth: { kind: 'proxy', proxy, reviewAccess },
    identification: { kind: 'proxy', headers: ['x-forwarded-user', 'x-proxy-secret'] },
  });
  const known = { 'x-proxy-secret': 'what the proxy knows' };
  const { status, text } = await get('/policies', { ...known, 'x-forwarded-user': 'ann' });
  assert.equal(status, 200);
  assert.match(text, /Signed in as ann/);
  assert.doesNotMatch(text, /Sign out/);
  assert.deepEqual([...new Set(callers)], ['ann']);
  assert.equal((await get('/policies', { ...known, 'x-forwarded-user': ['admin', 'ann'] })).status, 401);
  assert.equal((await get('/policies', { 'x-forwarded-user': 'ann' })).status, 401);
  assert.equal((await get('/policies', { 'x-proxy-secret': 'a guess', 'x-forwarded-user': 'ann' })).status, 401);
});

test('the dashboard without authentication answers only requests to localhost', async (t) => {
  const { get } = openDashboard(t);
  // Also what needs nothing of the API: that may be in another process, which does not see this Host.
  for (const path of ['/policies', '/sign-in']) {
    const { status, text } = await get(path, { host: 'rebound.example' });
    assert.deepEqual([status, /the dashboard answers only requests to localhost/.test(text)], [403, true], path);
  }
});

test('too many requests from one address are refused', async (t) => {
  const { get, submit } = openDashboard(t, { auth: ann('list *'), identification: sessions, more: { requestsPerMinute: 5 } });
  for (let tries = 0; tries < 5; tries++) assert.equal((await submit('/sign-in', { token: 'guess' })).status, 401);
  assert.equal((await submit('/sign-in', { token: 'anns-token' })).status, 429);
  for (let tries = 0; tries < 5; tries++) await get('/sign-in');
  assert.equal((await get('/sign-in')).status, 429);
});

test('the setup page shows no receiver if none is configured', async (t) => {
  const { get } = openDashboard(t, { more: { settings: { webhookUrl: 'https://hooks.example.com', teamLabel: 'team' } } });
  assert.match((await get('/setup')).text, /No receiver is configured/);
});

test('the stream of a page ends when the browser leaves, and no longer counts as open', async (t) => {
  const { app } = openDashboard(t);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  assert.ok(typeof address === 'object' && address !== null);
  // A user may have 20 at once.
  for (let visit = 0; visit < 50; visit++) {
    const left = new AbortController();
    const open = async () => {
      const response = await fetch(`http://localhost:${address.port}/stream`, { signal: left.signal });
      if (response.status === 503) await response.body?.cancel();
      return response.status === 200 && response;
    };
    // The service learns that a browser has left from its connection.
    const response = await waitFor('a stream to be free', open);
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    const reader = response.body?.getReader();
    assert.match(new TextDecoder().decode((await reader?.read())?.value), /^retry: 2000/);
    left.abort();
    await reader?.read().catch(() => undefined);
  }
});
