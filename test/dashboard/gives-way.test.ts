/** No reading of a page holds up pushes for long: what takes long is done in slices. Told by what is read between two turns of the event loop, not by time. */
import assert from 'node:assert/strict';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { test } from 'node:test';
import { createTurns } from '../../src/core/async/turns.ts';
import type { ImagePolicy } from '../../src/core/model/image-policy.ts';
import { policyOf, specOf } from '../core/model/samples.ts';
import { createActivityRoutes } from '../../src/activity/routes.ts';
import { readFrom } from '../activity/sample-activity.ts';
import { openDashboard } from './start-dashboard.ts';

const count = 10_000;
/** A tenth of a page of a hundred rows reads as much. */
const mostAtOnce = 1_000;

/** Policies, a third of which cannot go on, and how much of them was read since the last turn: each look at one takes 10 µs on the clock of the turns. */
function openCounted() {
  let now = 0;
  const read = { policies: 0, records: 0, most: { policies: 0, records: 0 }, turns: 0 };
  const turn = () => {
    read.most = { policies: Math.max(read.most.policies, read.policies), records: Math.max(read.most.records, read.records) };
    [read.policies, read.records] = [0, 0];
    read.turns++;
  };
  const turns = createTurns({
    elapsed: () => (now += 0.08) + read.policies / 100,
    passOn: async () => {
      await nextLoop();
      turn();
    },
    pause: () => assert.fail('nothing goes first'),
  });
  const counting: ProxyHandler<ImagePolicy> = {
    get(policy, field, receiver) {
      read.policies++;
      return Reflect.get(policy, field, receiver) as unknown;
    },
  };
  const policies = Array.from({ length: count }, (_, index) => {
    const reason = index % 3 === 0 ? 'RegistryUnavailable' : 'UpToDate';
    const type = index % 3 === 0 ? 'Stalled' : 'Ready';
    const repository = { registry: `registry-${index % 7}.example.com`, path: `shop/web-${index}` };
    const policy = policyOf({
      // Not in their order, as they are in a cache.
      name: `web-${(index * 7919) % count}`,
      namespace: `team-${index % 300}`,
      uid: `uid-${index}`,
      labels: { team: `team-${index % 60}` },
      spec: specOf({ repository }),
      status: { conditions: [{ type, status: 'True', reason, message: 'said', lastTransitionTime: '2026-03-01T11:00:00Z' }] },
    });
    return new Proxy(policy, counting);
  });
  return { read, turn, turns, policies };
}

/** Addresses of all pages with filters, of which each needs another pass over the policies. */
const addresses = [
  '/',
  '/policies?sort=changed&state=Stalled&search=web-1&namespace=team-1',
  '/policies?group=cause',
  '/cause?id=registry%2FRegistryUnavailable%2Fregistry-1.example.com',
  '/policies/team-1/web-7919',
  '/policies/team-1/web-7919/yaml',
  '/images',
  '/image?repository=registry-1.example.com%2Fshop%2Fweb-1',
  '/places',
  '/activity',
  '/events?team=team-1',
  '/approvals',
  '/setup',
  '/search?q=web-1',
];

for (const address of addresses)
  test(`the page ${address} of ${count} policies is made in slices, so that the event loop can continue`, async (t) => {
    const { read, turn, turns, policies } = openCounted();
    const known = policies.find(({ name }) => name === 'web-7919');
    const { get } = openDashboard(t, {
      turns,
      policies: { all: () => policies, find: () => known },
      added: { features: ['activity'], routes: createActivityRoutes(readFrom([])) },
    });
    turn();
    read.most = { policies: 0, records: 0 };
    const { status, text } = await get(address);
    turn();
    assert.ok(status < 500, `${status} ${text}`);
    assert.ok(read.most.policies < mostAtOnce, `${read.most.policies} looks at policies between two turns`);
  });
