import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import { startApi } from './fake-events.ts';

const headers = { authorization: 'Bearer anns-token', host: 'localhost:9090' };
/** Ann may get the policies of shop. */
const auth: OperationsAuth = {
  kind: 'kubernetes',
  reviewToken: (token) => Promise.resolve(token === 'anns-token' ? { user: 'ann', groups: [] } : undefined),
  reviewAccess: (_caller, { verb, namespace }) => Promise.resolve(verb === 'get' && namespace === 'shop'),
};
const namespaces = { areKnown: () => true, whyNotSelected: () => 'not selected: label it' };

test('the API says whether a namespace is selected, and why not', async (t) => {
  const refused = startApi(t, auth, [], { namespaces });
  assert.deepEqual((await refused.app.inject({ url: '/api/v1/namespaces/shop', headers })).json(), {
    namespace: 'shop',
    isSelected: false,
    reason: 'NamespaceNotSelected',
    message: 'not selected: label it',
  });
  const accepted = startApi(t, auth, [], { namespaces: { ...namespaces, whyNotSelected: () => undefined } });
  assert.deepEqual((await accepted.app.inject({ url: '/api/v1/namespaces/shop', headers })).json(), {
    namespace: 'shop',
    isSelected: true,
  });
});

test('the API describes a namespace only to callers who may get its policies', async (t) => {
  const { app } = startApi(t, auth, [], { namespaces });
  const { statusCode, body } = await app.inject({ url: '/api/v1/namespaces/ops', headers });
  assert.deepEqual([statusCode, /permission to get imagepolicies in the namespace ops/.test(body)], [403, true], body);
  assert.equal((await app.inject({ url: '/api/v1/namespaces/shop', headers: { host: headers.host } })).statusCode, 401);
  assert.equal((await app.inject({ url: '/api/v1/namespaces/a%20b', headers })).statusCode, 400);
});

test('a request about a namespace is answered 503 while namespaces are not known, and without the role work', async (t) => {
  const starting = startApi(t, auth, [], { namespaces: { ...namespaces, areKnown: () => false } });
  assert.equal((await starting.app.inject({ url: '/api/v1/namespaces/shop', headers })).statusCode, 503);
  assert.equal((await startApi(t, auth, []).app.inject({ url: '/api/v1/namespaces/shop', headers })).statusCode, 503);
});
