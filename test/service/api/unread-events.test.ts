import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../../../src/service/api/access.ts';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import { recordOf, startApi, type TestApi } from './fake-events.ts';

/** Whoever calls may do these things; `*` is all namespaces. */
function userWith(...rights: string[]): OperationsAuth {
  return {
    kind: 'kubernetes',
    reviewToken: () => Promise.resolve({ user: 'ann', groups: [] }),
    reviewAccess: (_caller, { verb, namespace = '*' }: Question) => Promise.resolve(rights.includes(`${verb} ${namespace}`)),
  };
}

const headers = { authorization: 'Bearer anns-token', host: 'localhost:9090', 'content-type': 'application/json' };

async function ask({ app }: TestApi, url: string, method: 'GET' | 'POST' = 'GET') {
  const response = await app.inject({ method, url, headers, ...(method === 'POST' && { payload: '{}' }) });
  const body = response.json<{ events?: { id: string; outcome: string; policies: object[] }[]; pushes?: { byOutcome: object } }>();
  return { status: response.statusCode, body, ids: body.events?.map(({ id }) => id) };
}

test('the author of a policy that has not read the repository sees nothing of its pushes', async (t) => {
  const other = { ...recordOf('other', 4, { 'shop/web': 'updated', 'spy/web': 'stalled' }), readers: new Set(['shop/web']) };
  const unread = { ...recordOf('unread', 3, { 'spy/web': 'stalled', 'spy/api': undefined }), readers: new Set<string>() };
  const spy = startApi(t, userWith('get spy', 'list spy', 'update spy'), [other, unread]);
  for (const query of ['', '?policy=spy/web', '?outcome=stalled', '?repository=r.example.com/shop/web', '?receiver=prod'])
    assert.deepEqual((await ask(spy, `/api/v1/events${query}`)).ids, [], query);
  for (const id of ['other', 'unread', 'missing']) {
    assert.equal((await ask(spy, `/api/v1/events/${id}`)).status, 404, id);
    assert.equal((await ask(spy, `/api/v1/events/${id}/replay`, 'POST')).status, 404, id);
  }
  const owner = await ask(startApi(t, userWith('get shop'), [other, unread]), '/api/v1/events');
  assert.deepEqual(
    owner.body.events?.map(({ id, outcome, policies }) => `${id} ${outcome} ${policies.length}`),
    ['other updated 1'],
  );
  assert.deepEqual((await ask(startApi(t, userWith('list *'), [other, unread]), '/api/v1/events')).ids, ['other', 'unread']);
});

test('an event shows no policy that has not read the repository, even beside one of the same namespace that has', async (t) => {
  const mixed = { ...recordOf('mixed', 4, { 'shop/web': 'updated', 'shop/odd': 'stalled' }), readers: new Set(['shop/web']) };
  const owner = startApi(t, userWith('get shop'), [mixed]);
  const { body } = await ask(owner, '/api/v1/events');
  assert.deepEqual(
    body.events?.map(({ outcome, policies }) => [outcome, policies.map((one) => (one as { name: string }).name)]),
    [['updated', ['web']]],
  );
  assert.deepEqual((await ask(owner, '/api/v1/events?policy=shop/odd')).ids, []);
});
