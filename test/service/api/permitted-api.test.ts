/** The route that says which actions a caller may request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBaseRoutes } from '../../../src/bases/api/routes.ts';
import { AccessError } from '../../../src/service/api/access.ts';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import { appliedOnce, policyOf } from '../../core/model/samples.ts';
import { startApi } from './fake-events.ts';
import { ann, samplePorts } from './sample-policies.ts';

const all = ['approve', 'reject', 'rollback', 'release', 'promote', 'hold', 'check', 'suspend', 'resume'];
const headers = { host: 'localhost', authorization: 'Bearer anns-token' };

for (const [name, rights, more, expected] of [
  ['patch nothing', ['get shop'], {}, []],
  ['patch policies', ['get shop', 'patch shop'], {}, all],
  ['patch policies of all namespaces', ['get shop', 'patch *'], {}, all],
  ['patch policies, with the admission policy', ['get shop', 'patch shop'], { hasAdmissionPolicy: true }, ['check']],
  [
    'approve, with the admission policy',
    ['get shop', 'patch shop', 'approve shop'],
    { hasAdmissionPolicy: true },
    ['approve', 'reject', 'promote', 'check'],
  ],
  [
    'release, with the admission policy',
    ['get shop', 'patch shop', 'release shop'],
    { hasAdmissionPolicy: true },
    ['release', 'hold', 'check'],
  ],
  [
    'roll back and edit, with the admission policy',
    ['get shop', 'patch shop', 'rollback shop', 'update shop'],
    { hasAdmissionPolicy: true },
    ['rollback', 'check', 'suspend', 'resume'],
  ],
  ['patch policies, while no actions are offered', ['get shop', 'patch shop'], { noActions: 'actions are off' }, []],
] as const)
  test(`the right actions are permitted to a caller who may ${name}`, async (t) => {
    const { app } = startApi(t, ann(...rights), [], { policies: samplePorts([], more) });
    const answer = await app.inject({ url: '/api/v1/policies/shop/ready/permitted', headers });
    assert.deepEqual([answer.statusCode, answer.json()], [200, { actions: expected }]);
  });

test('a caller who may not get a policy learns no permitted action, and actions that cannot be reviewed now are assumed', async (t) => {
  const { app } = startApi(t, ann('get ops', 'patch ops'), [], { policies: samplePorts([]) });
  assert.equal((await app.inject({ url: '/api/v1/policies/shop/ready/permitted', headers })).statusCode, 403);
  const auth = ann('get shop') as Extract<OperationsAuth, { kind: 'kubernetes' }>;
  const reviewAccess: typeof auth.reviewAccess = (caller, question) =>
    question.verb === 'patch' ? Promise.reject(new AccessError(503, 'no answer')) : auth.reviewAccess(caller, question);
  const away = startApi(t, { ...auth, reviewAccess }, [], { policies: samplePorts([]) });
  assert.deepEqual((await away.app.inject({ url: '/api/v1/policies/shop/ready/permitted', headers })).json(), { actions: all });
});

test('the permitted actions name the image that a rollback would bring back', async (t) => {
  const [change] = appliedOnce('1.2.3');
  assert.ok(change);
  const web = policyOf({ name: 'web', status: { history: [{ ...change, from: 'registry.example.com/shop/web:1.2.2' }] } });
  let [found, considered] = [web, 0];
  const consider = (policy: typeof web) => ({ policy, considered: ++considered });
  const { app } = startApi(t, ann('get shop'), [], { policies: samplePorts([], { find: () => found, consider }) });
  const ask = async () => (await app.inject({ url: '/api/v1/policies/shop/web/permitted', headers })).json();
  const expected = { actions: [], previous: { tag: '1.2.2' } };
  // It is found once for each version of a policy, because open pages ask again and again.
  assert.deepEqual([await ask(), await ask(), considered], [expected, expected, 1]);
  found = { ...web, status: {} };
  assert.deepEqual([await ask(), considered], [{ actions: [] }, 2]);
});

test('permitted actions are shown for each of up to 50 namespaces, of policies and of policies of bases', async (t) => {
  const rights = ['patch shop', 'patch ops', 'approve ops', 'patch baseimagepolicies shop', 'update baseimagepolicies shop'];
  const { app } = startApi(t, ann(...rights), [], {
    policies: samplePorts([], { hasAdmissionPolicy: true }),
    added: { features: ['bases'], routes: createBaseRoutes(undefined) },
  });
  const ask = async (query: string, of = 'policies') => {
    const answer = await app.inject({ url: `/api/v1/${of}/permitted?namespaces=${query}`, headers });
    return [answer.statusCode, answer.json<{ namespaces?: unknown }>().namespaces];
  };
  assert.deepEqual(await ask('shop,ops,else,shop'), [
    200,
    [
      { namespace: 'shop', actions: ['check'] },
      { namespace: 'ops', actions: ['approve', 'reject', 'promote', 'check'] },
      { namespace: 'else', actions: [] },
    ],
  ]);
  assert.deepEqual(await ask('shop,ops', 'bases'), [
    200,
    [
      { namespace: 'shop', actions: ['check', 'suspend', 'resume'] },
      { namespace: 'ops', actions: [] },
    ],
  ]);
  const many = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`).join(',');
  assert.deepEqual([(await ask(many(50)))[0], (await ask(many(51)))[0], (await ask('a/b'))[0], (await ask(''))[0]], [200, 400, 400, 400]);
});
