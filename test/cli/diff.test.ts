/** What `diff` says of a first change that the service holds because of the age of its image, which only the registry knows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf } from '../../src/cli/diff/changes.ts';
import { planNow } from '../../src/service/explain/plan-now.ts';
import type { ImagePolicy } from '../../src/core/model/image-policy.ts';
import type { Condition } from '../../src/core/model/policy-status.ts';
import { strategies } from '../../src/core/select/strategies/index.ts';
import { digestOf, noAliases, policyOf, specOf, workloadOf } from '../core/model/samples.ts';
import { viewOf } from '../core/rollout/rollout-samples.ts';

const image = 'registry.example.com/shop/web';
const message = 'Deployment shop/web: web: the image of 1.3.0 was created on 2026-02-01, before that of 1.2.3 (2026-02-20), which runs';
const held: Condition = { type: 'Held', status: 'True', reason: 'UnlikelyVersion', message, lastTransitionTime: '2026-03-01T12:00:00Z' };
const latest = { tag: '1.3.0', digest: digestOf('b'), selectedAt: '2026-03-01T12:00:00Z' };

async function diff(policy: Partial<ImagePolicy> = {}) {
  const given = policyOf({ spec: specOf({ strategy: strategies.semver({}) }), status: { latest, conditions: [held] }, ...policy });
  const cluster = {
    ...viewOf(workloadOf({ web: `${image}:1.2.3` })),
    aliases: noAliases,
    targetState: () => ({ since: 0 }),
    repeatsPerHour: 5,
    now: () => Date.parse('2026-03-01T12:01:00Z'),
  };
  const changes = changesOf('shop/web', await planNow({ policy: given }, () => cluster));
  return changes.map(({ from, to, image: stays, reason, message: why }) => (to === undefined ? [stays, reason, why] : [from, to]));
}

test('diff shows no first change while it is held as an unlikely version, and says why', async () => {
  assert.deepEqual(await diff(), [[`${image}:1.2.3`, 'UnlikelyVersion', message]]);
});

for (const [what, policy] of [
  ['was released', { actions: { release: '2026-03-01T12:00:30Z' } }],
  [
    'is over, and another image is selected',
    { status: { latest: { ...latest, tag: '1.4.0' }, conditions: [{ ...held, status: 'False' }] } },
  ],
  ['was before an edit of the spec', { status: { latest, conditions: [held], observedGeneration: policyOf().generation - 1 } }],
] satisfies [string, Partial<ImagePolicy>][])
  test(`diff shows the change where the hold ${what}`, async () => {
    const to = `${image}:${policy.status?.latest?.tag ?? latest.tag}`;
    assert.deepEqual(await diff(policy), [[`${image}:1.2.3`, to]]);
  });
