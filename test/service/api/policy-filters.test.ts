/** The filters of the list of policies. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { getPolicies } from '../../../src/service/api/routes/policies.ts';
import { appliedOnce, digestOf, policyOf } from '../../core/model/samples.ts';
import { startApi } from './fake-events.ts';
import { samplePorts } from './sample-policies.ts';

async function list(t: TestContext, policies: readonly ImagePolicy[], query: string) {
  const { app } = startApi(t, { kind: 'none' }, [], { policies: samplePorts([], { all: () => policies }) });
  const { body } = await app.inject({ url: `/api/v1/policies?${query}`, headers: { host: 'localhost:9090' } });
  return getPolicies.answer.parse(JSON.parse(body));
}

/** When each of these policies was last changed, and by which receiver; the last has never been changed. */
const changed = [
  policyOf({ name: 'one', status: { ...appliedAt('2026-03-01T09:00:00Z', 'a'), trigger: triggerOf('prod') } }),
  policyOf({ name: 'two', status: { ...appliedAt('2026-03-01T10:00:00Z', 'b'), trigger: triggerOf('ci') } }),
  policyOf({ name: 'three', status: { pendingApproval: { tag: '2.0.0', digest: digestOf('a') } } }),
  policyOf({
    name: 'set',
    status: {
      latest: {
        tag: '2.0.0',
        selectedAt: '2026-03-01T10:00:00Z',
        companions: [{ image: 'r.example.com/proxy', tag: '2.0.0', digest: digestOf('e') }],
      },
      pendingApproval: {
        tag: '2.0.0',
        digest: digestOf('9'),
        images: [`r.example.com/web@${digestOf('8')}`, `r.example.com/proxy@${digestOf('e')}`],
      },
    },
  }),
  policyOf({ name: 'four', status: { rejected: [{ digest: digestOf('a'), reason: 'RolloutFailed', at: '2026-03-01T10:00:00Z' }] } }),
  policyOf({ name: 'five', status: {} }),
];

function appliedAt(at: string, digest: string): ImagePolicy['status'] {
  return { history: appliedOnce('1.0.0').map((one) => ({ ...one, at, digest: digestOf(digest) })) };
}

function triggerOf(receiver: string): NonNullable<ImagePolicy['status']['trigger']> {
  return { source: 'Webhook', receiver, handledAt: '2026-03-01T10:00:00Z' };
}

for (const [query, expected] of [
  [`digest=${digestOf('a')}`, ['four', 'one', 'three']],
  [`digest=${digestOf('c')}`, []],
  [`digest=${digestOf('e')}`, ['set']],
  [`digest=${digestOf('8')}`, ['set']],
  [`digest=${digestOf('9')}`, ['set']],
  ['receiver=ci', ['two']],
  ['since=2026-03-01T10:00:00Z', ['two']],
  ['until=2026-03-01T09:30:00%2B00:00', ['one']],
  ['since=2026-03-01T08:00:00Z&until=2026-03-01T11:00:00Z', ['one', 'two']],
  [`digest=${digestOf('a')}&receiver=prod`, ['one']],
] as const)
  test(`policies with ${query} are found, and counts and facets are of these`, async (t) => {
    const { policies, counts } = await list(t, changed, query);
    assert.deepEqual(
      policies.map(({ name }) => name),
      expected,
    );
    assert.equal(
      Object.values(counts).reduce((sum, count) => sum + count, 0),
      expected.length,
    );
  });

test('a label is one that the policy has, not a property of every object', async (t) => {
  const labelled = policyOf({ labels: { team: 'shop' } });
  for (const [key, values] of [
    ['team', [{ value: 'shop', count: 1 }]],
    ['constructor', []],
  ] as const) {
    assert.deepEqual((await list(t, [labelled], `label=${key}`)).facets.labels, values);
  }
});
