/** The targets of notifications in the API: who sees which, and who may have one tested. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { z } from 'zod';
import type { ConfiguredTarget } from '../../src/core/model/configured-target.ts';
import type { NotificationTarget } from '../../src/core/model/notification-target.ts';
import { createTargetCauses } from '../../src/notify/target-causes.ts';
import { createTargetRoutes, type TargetRoutesMeans } from '../../src/notify/routes.ts';
import { notificationRoutes } from '../../src/service/api/notification-view.ts';
import { startApi } from '../service/api/fake-events.ts';
import { ann, samplePorts } from '../service/api/sample-policies.ts';

const start = Date.parse('2026-03-01T12:00:00Z');
const secret = 'https://hooks.slack.com/services/very-secret';
const ops: ConfiguredTarget = {
  name: 'ops',
  kind: 'slack',
  events: [],
  namespaces: [],
  insecure: false,
  url: () => secret,
  secret: () => secret,
};
const chat: NotificationTarget = {
  namespace: 'shop',
  name: 'chat',
  uid: 'u',
  generation: 1,
  resourceVersion: '1',
  spec: { problem: { reason: 'InvalidPolicy', message: 'it has no type' } },
  status: {
    conditions: [
      { type: 'Ready', status: 'False', reason: 'InvalidTarget', message: 'it has no type', lastTransitionTime: '2026-03-01T11:00:00Z' },
    ],
  },
};

function openApi(
  t: TestContext,
  rights: readonly string[],
  { noActions, ...more }: Partial<TargetRoutesMeans> & { noActions?: string } = {},
) {
  const tested: string[] = [];
  let now = start;
  const means: TargetRoutesMeans = {
    configured: [ops],
    namespaced: () => [chat],
    readResults: (names) =>
      Promise.resolve(names.map((name) => (name === 'ops' ? { acceptedAt: start - 60_000, failedAt: start, why: 'answered 404' } : {}))),
    test: (target) => {
      tested.push(target);
      return Promise.resolve(target === 'gone' ? undefined : { kind: 'refused', message: 'answered 400', action: 'correct the key' });
    },
    now: () => now,
    ...more,
  };
  const added = { features: ['notify'], routes: createTargetRoutes(means), causes: [createTargetCauses(means)] };
  const policies = samplePorts([], { noActions });
  const { app, logged } = startApi(t, ann(...rights), [], { policies, added });
  const headers = { host: 'localhost', authorization: 'Bearer anns-token', 'content-type': 'application/json' };
  return {
    tested,
    logged,
    later: (ms: number) => (now += ms),
    async list() {
      const { body, json } = await app.inject({ url: '/api/v1/notification-targets', headers });
      assert.doesNotMatch(body, /very-secret/);
      return notificationRoutes.list.answer.parse(json()).targets;
    },
    async causes() {
      const { json } = await app.inject({ url: '/api/v1/causes', headers });
      return json<{ causes: readonly { id: string }[] }>().causes.map(({ id }) => id);
    },
    async test(target: string) {
      const { statusCode, json } = await app.inject({
        method: 'POST',
        url: '/api/v1/notification-targets/test',
        headers,
        payload: JSON.stringify({ target }),
      });
      return { status: statusCode, body: json<z.output<typeof notificationRoutes.test.answer> & { detail?: string }>() };
    },
  };
}

test('the API shows targets of the configuration with their last result to those who may list all policies', async (t) => {
  const { list, causes } = openApi(t, ['list *', 'list notificationtargets *']);
  assert.deepEqual(await list(), [
    {
      name: 'ops',
      type: 'slack',
      ready: false,
      reason: 'NotAccepted',
      message: 'answered 404',
      lastAcceptedAt: '2026-03-01T11:59:00Z',
      lastFailedAt: '2026-03-01T12:00:00Z',
      lastFailure: 'answered 404',
    },
    { name: 'shop/chat', namespace: 'shop', ready: false, reason: 'InvalidTarget', message: 'it has no type' },
  ]);
  assert.deepEqual((await causes()).filter((id) => id.startsWith('notification/')).toSorted(), [
    'notification/InvalidTarget/shop/chat',
    'notification/NotAccepted/ops',
  ]);
});

test('the API shows a team only the targets of its namespace', async (t) => {
  const { list, causes } = openApi(t, ['list shop', 'list notificationtargets shop']);
  assert.deepEqual(
    (await list()).map(({ name }) => name),
    ['shop/chat'],
  );
  assert.deepEqual(
    (await causes()).filter((id) => id.includes('/ops')),
    [],
  );
  assert.deepEqual(await openApi(t, ['list shop']).list(), []);
});

test('the API lists targets of notifications without their last results while Redis is away', async (t) => {
  const { list } = openApi(t, ['list *'], { readResults: () => Promise.reject(new Error('no connection')) });
  assert.deepEqual(await list(), [{ name: 'ops', type: 'slack', ready: true, reason: 'Configured', message: '' }]);
});

const refusals: readonly (readonly [name: string, rights: readonly string[], target: string, noActions?: string])[] = [
  ['the right to list does not suffice', ['list *', 'list notificationtargets *'], 'ops'],
  ['the right in a namespace does not suffice for a target of the configuration', ['update shop'], 'ops'],
  ['the right on policies does not suffice for a target of a namespace', ['update *'], 'shop/chat'],
  ['the right in another namespace does not suffice', ['update notificationtargets ops'], 'shop/chat'],
  ['actions are off', ['update *'], 'ops', 'actions are off'],
];
for (const [name, rights, target, noActions] of refusals)
  test(`the API sends no test message: ${name}`, async (t) => {
    const { test: post, tested } = openApi(t, rights, noActions === undefined ? {} : { noActions });
    assert.equal((await post(target)).status, 403);
    assert.deepEqual(tested, []);
  });

test('the API returns the answer to a test message, and does not test a target again immediately', async (t) => {
  const { test: post, tested, later, logged } = openApi(t, ['update *', 'update notificationtargets shop']);
  assert.deepEqual(await post('ops'), { status: 200, body: { accepted: false, message: 'answered 400; correct the key' } });
  assert.equal((await post('ops')).status, 429);
  assert.equal((await post('shop/chat')).status, 200);
  later(10_000);
  assert.equal((await post('ops')).status, 200);
  assert.deepEqual(tested, ['ops', 'shop/chat', 'ops']);
  assert.equal((await post('gone')).status, 404);
  assert.equal((await post('shop/chat/more')).status, 400);
  assert.ok(logged.some((line) => line.includes('notification target tested')));
});
