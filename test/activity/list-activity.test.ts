/** The record of activity through the API: who sees what, and what filters leave. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ActivityEntry } from '../../src/service/api/activity-view.ts';
import { activityReads } from '../../src/service/api/activity-view.ts';
import type { Activity } from '../../src/core/model/activity.ts';
import type { OperationsAuth } from '../../src/service/api/authenticate.ts';
import type { Question } from '../../src/service/api/access.ts';
import { createActivityRoutes } from '../../src/activity/routes.ts';
import { digestOf, policyOf } from '../core/model/samples.ts';
import { ignoredOf, recordOf, startApi } from '../service/api/fake-events.ts';
import { samplePorts } from '../service/api/sample-policies.ts';
import { readFrom, timeAt as at } from './sample-activity.ts';

const subjectOf = (namespace: string, name = 'web', kind: Activity['subject']['kind'] = 'ImagePolicy') => ({ kind, namespace, name });
const read = readFrom([
  { type: 'action', at: at(12), action: 'replay', subject: { kind: 'Push', name: 'two' }, user: 'root' },
  { type: 'action', at: at(11), action: 'approve', subject: subjectOf('shop'), value: `1.1.0@${digestOf('b')}`, user: 'ada', why: 'ok' },
  { type: 'change', at: at(10), kind: 'Updated', subject: subjectOf('ops'), tag: '2.0.0', digest: digestOf('c') },
  { type: 'change', at: at(4), kind: 'Rebased', subject: subjectOf('ops', 'java', 'BaseImagePolicy') },
]);
const pushes = [
  recordOf('two', 8, { 'shop/web': 'updated', 'ops/web': 'stalled' }),
  recordOf('nobody', 7, {}, 'unwatched'),
  ignoredOf('pull', 6),
  recordOf('one', 5, { 'shop/web': 'unchanged' }),
];

function ann(...rights: string[]): OperationsAuth {
  return {
    kind: 'kubernetes',
    reviewToken: () => Promise.resolve({ user: 'ann', groups: [] }),
    reviewAccess: (_caller, { verb, resource = 'imagepolicies', namespace = '*' }: Question) =>
      Promise.resolve(rights.includes(`${verb} ${resource} ${namespace}`)),
  };
}
const everything = ann('list imagepolicies *', 'list baseimagepolicies *');

const nameOf = (entry: ActivityEntry) =>
  entry.type === 'push'
    ? entry.id
    : entry.type === 'change'
      ? `${entry.kind} ${entry.subject.namespace}`
      : `${entry.action} by ${entry.user}`;

const policies = [
  policyOf({ name: 'web', labels: { team: 'shop' } }),
  policyOf({ namespace: 'ops', name: 'web', labels: { team: 'ops' } }),
  // A label of an ImagePolicy says nothing about the BaseImagePolicy of the same name.
  policyOf({ namespace: 'ops', name: 'java', labels: { team: 'ops' } }),
];

function start(t: TestContext, auth: OperationsAuth) {
  const { app } = startApi(t, auth, pushes, {
    policies: samplePorts([], { all: () => policies }),
    added: { features: ['activity'], routes: createActivityRoutes(read) },
  });
  return async (query = '') => {
    const response = await app.inject({ url: `/api/v1/activity?${query}`, headers: { authorization: 'Bearer any', host: 'localhost' } });
    const body: unknown = response.json();
    const { data } = activityReads.list.answer.safeParse(body);
    return { status: response.statusCode, names: data?.activity.map(nameOf), next: data?.next, body };
  };
}

test('the activity API lists pushes, changes and actions newest first, without pushes that no policy watches', async (t) => {
  const { names, next } = await start(t, everything)();
  assert.deepEqual(names, ['replay by root', 'approve by ada', 'Updated ops', 'two', 'one', 'Rebased ops']);
  assert.equal(next, undefined);
});

test('the pages of the activity API contain every entry exactly once', async (t) => {
  const get = start(t, everything);
  const all: string[] = [];
  let before = '';
  for (let pages = 0; pages < 10; pages++) {
    const { names = [], next } = await get(`limit=1${before}`);
    all.push(...names);
    if (next === undefined) break;
    before = `&before=${encodeURIComponent(next)}`;
  }
  assert.deepEqual(all, ['replay by root', 'approve by ada', 'Updated ops', 'two', 'one', 'Rebased ops']);
});

for (const [about, rights, expected] of [
  ['of one namespace', ['get imagepolicies shop'], ['approve by ada', 'two', 'one']],
  ['of a namespace with bases', ['get imagepolicies ops', 'get baseimagepolicies ops'], ['Updated ops', 'two', 'Rebased ops']],
  ['of all policies, and no bases', ['list imagepolicies *'], ['replay by root', 'approve by ada', 'Updated ops', 'two', 'one']],
  ['of nothing', [], []],
] as const)
  test(`a caller who may read the policies ${about} sees only activity about these policies`, async (t) => {
    assert.deepEqual((await start(t, ann(...rights))()).names, expected);
  });

for (const [query, expected] of [
  ['type=action', ['replay by root', 'approve by ada']],
  ['type=change', ['Updated ops', 'Rebased ops']],
  ['type=push', ['two', 'one']],
  ['user=ada', ['approve by ada']],
  ['namespace=ops', ['Updated ops', 'two', 'Rebased ops']],
  ['policy=shop/web', ['approve by ada', 'two', 'one']],
  [`digest=${digestOf('b')}`, ['approve by ada']],
  [`digest=${digestOf('c')}`, ['Updated ops']],
  ['label=team=shop', ['approve by ada', 'two', 'one']],
  ['label=team=ops', ['Updated ops', 'two']],
  ['label=team=nobody', []],
  ['outcome=unwatched', ['nobody']],
  ['receiver=prod', ['two', 'one']],
  [`since=${at(8)}`, ['replay by root', 'approve by ada', 'Updated ops', 'two']],
  [`until=${at(8)}`, ['two', 'one', 'Rebased ops']],
  [`since=${at(5)}&until=${at(10)}`, ['Updated ops', 'two', 'one']],
] as const)
  test(`the activity API returns only the entries that the query selects: ${query.slice(0, 40)}`, async (t) => {
    assert.deepEqual((await start(t, everything)(query)).names, expected);
  });

test('the activity API refuses a wrong query with status 400', async (t) => {
  const get = start(t, everything);
  for (const query of ['before=1', 'type=deploy', 'since=tuesday', 'digest=sha256:1', 'limit=0'])
    assert.equal((await get(query)).status, 400, query);
});

test('a process that cannot read the activity answers 503 and names the role work', async (t) => {
  const { app } = startApi(t, everything, [], { added: { features: ['activity'], routes: createActivityRoutes(undefined) } });
  const response = await app.inject({ url: '/api/v1/activity', headers: { authorization: 'Bearer any', host: 'localhost' } });
  assert.equal(response.statusCode, 503);
  assert.match(response.json<{ detail: string }>().detail, /role work/);
});
