import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import type { EventView } from '../../../src/service/api/event-view.ts';
import { recordOf, startApi } from './fake-events.ts';

const ofShop = {
  target: 'shop/team',
  kind: 'Updated',
  reason: 'Refused',
  message: 'was answered 400',
  at: '2026-03-01T12:00:06Z',
} as const;
const ofOps = { ...ofShop, target: 'ops/team' };
const givenUp = new Map([
  ['shop/web', [ofShop]],
  ['ops/web', [ofOps]],
]);
const record = { ...recordOf('two', 8, { 'shop/web': 'updated', 'ops/web': undefined }), givenUp };
const ofShopOnly: OperationsAuth = {
  kind: 'kubernetes',
  reviewToken: () => Promise.resolve({ user: 'ann', groups: [] }),
  reviewAccess: (_caller, { verb, namespace }) => Promise.resolve(verb === 'get' && namespace === 'shop'),
};

for (const [name, auth, expected] of [
  ['everybody', { kind: 'none' }, [[ofShop], [ofOps]]],
  ['a user of one namespace, those of its policies', ofShopOnly, [[ofShop]]],
] satisfies [string, OperationsAuth, object[][]][])
  test(`an event shows the notifications about it that were given up to ${name}`, async (t) => {
    const { app } = startApi(t, auth, [record]);
    const response = await app.inject({ url: '/api/v1/events', headers: { authorization: 'Bearer token', host: 'localhost:9090' } });
    const { events } = response.json<{ events: EventView[] }>();
    assert.deepEqual(
      events.flatMap(({ policies }) => policies.map(({ noticesGivenUp }) => noticesGivenUp)),
      expected,
    );
  });
