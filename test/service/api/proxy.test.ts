/** `operations.auth: proxy`: who calls is believed of the proxy alone, and of nobody who reaches the port besides. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { TrustedProxy } from '../../../src/service/api/authenticate.ts';
import { recordOf, startApi } from './fake-events.ts';

const records = [recordOf('one', 5, { 'shop/web': 'unchanged' })];
const proxyKnows = 'what only the proxy knows';
const trustedProxy = {
  userHeader: 'X-Forwarded-User',
  groupsHeader: 'X-Forwarded-Groups',
  secretHeader: 'X-Proxy-Secret',
  secret: () => proxyKnows,
  trustedPeers: ['127.0.0.0/8', 'fd00::/8', '10.1.2.3'],
};

/** The API behind a proxy: what a request with these headers is answered, and as whom it was asked for. */
function behindProxy(t: TestContext, proxy: TrustedProxy = trustedProxy) {
  const callers: unknown[] = [];
  const { app } = startApi(t, { kind: 'proxy', proxy, reviewAccess: (caller) => Promise.resolve(callers.push(caller) > 0) }, records);
  return async (headers: Record<string, string | string[]>, remoteAddress = '127.0.0.1') => {
    callers.length = 0;
    const { statusCode } = await app.inject({
      url: '/api/v1/events/one',
      remoteAddress,
      headers: { 'x-proxy-secret': proxyKnows, ...headers },
    });
    return [statusCode, callers[0]];
  };
}

test("the API trusts the user and groups from the proxy's address only", async (t) => {
  const ask = behindProxy(t);
  const user = { 'x-forwarded-user': 'ann@example.com', 'x-forwarded-groups': 'shop, system:masters,ops' };
  for (const peer of ['127.0.0.1', '::ffff:127.0.0.1', '10.1.2.3', 'fd00::1']) assert.equal((await ask(user, peer))[0], 200, peer);
  assert.deepEqual(await behindProxy(t)(user), [200, { user: 'ann@example.com', groups: ['shop', 'ops', 'system:authenticated'] }]);
  for (const peer of ['10.1.2.4', '::1', '::ffff:10.0.0.1']) assert.equal((await ask(user, peer))[0], 401, peer);
  assert.equal((await ask({ ...user, 'x-forwarded-user': 'ann, admin' }))[0], 401);
  assert.equal((await ask({ ...user, 'x-forwarded-user': 'system:admin' }))[0], 403);
});

test("headers of a client that does not know the proxy's secret are ignored, wherever the client connects from", async (t) => {
  const user = { 'x-forwarded-user': 'ann', 'x-forwarded-groups': 'shop' };
  const ask = behindProxy(t);
  for (const secret of ['', 'a guess', `${proxyKnows} `.repeat(2), [proxyKnows, proxyKnows], [proxyKnows, 'a guess']])
    assert.deepEqual(await ask({ ...user, 'x-proxy-secret': secret }), [401, undefined], String(secret));
});

for (const [about, headers] of [
  ['the groups of a client, without a user', { 'x-forwarded-groups': 'admins' }],
  ['a user, without groups', { 'x-forwarded-user': 'ann' }],
  ['neither', {}],
  ['the groups of a client beside those of the proxy', { 'x-forwarded-user': 'ann', 'x-forwarded-groups': ['admins', 'shop'] }],
  ['the user of a client beside that of the proxy', { 'x-forwarded-user': ['admin', 'ann'], 'x-forwarded-groups': 'shop' }],
  ['a user without a name', { 'x-forwarded-user': ' ', 'x-forwarded-groups': 'admins' }],
] as const) {
  test(`a request behind a proxy that names users and groups is rejected in the case "${about}"`, async (t) => {
    const sent = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
      name,
      typeof value === 'string' ? value : [...value],
    ]);
    assert.deepEqual(await behindProxy(t)(Object.fromEntries(sent)), [401, undefined]);
  });
}

test('a user without groups is accepted behind a proxy that names users and groups', async (t) => {
  assert.deepEqual(await behindProxy(t)({ 'x-forwarded-user': 'ann', 'x-forwarded-groups': '' }), [
    200,
    { user: 'ann', groups: ['system:authenticated'] },
  ]);
});

test("a client's groups are ignored behind a proxy that names only users", async (t) => {
  const ask = behindProxy(t, { ...trustedProxy, groupsHeader: undefined });
  assert.deepEqual(await ask({ 'x-forwarded-user': 'ann', 'x-forwarded-groups': 'admins' }), [
    200,
    { user: 'ann', groups: ['system:authenticated'] },
  ]);
});
