import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNeverProven } from '../../../src/core/plan/never-proven.ts';
import type { FollowView } from '../../../src/core/plan/proven.ts';
import { policyKey, type ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { policyOf, specOf } from '../model/samples.ts';

const rollout = { timeoutMs: 600_000, onFailure: 'Rollback' } as const;
const staging = policyOf({ namespace: 'staging', name: 'web', spec: specOf({ pin: 'Digest', rollout }) });
const follower = (...policies: Pick<ImagePolicy, 'namespace' | 'name'>[]) =>
  policyOf({ name: 'production', spec: specOf({ pin: 'Digest', rollout, after: { policies, forMs: 0 } }) });

function kindsOf(policy: ImagePolicy, others: readonly ImagePolicy[], view: Partial<FollowView> = {}): string {
  const findPolicy = (namespace: string, name: string) => others.find((one) => policyKey(one) === policyKey({ namespace, name }));
  const found = findNeverProven(policy, { crossNamespace: 'consent', namespaceConsent: () => 'shop', findPolicy, ...view });
  return found.map(({ kind, index }) => `${kind} ${index}`).join();
}

test('the specs of the followed policies show which of them can never prove an image', () => {
  const here = { namespace: 'shop', name: 'here' };
  const but = (spec: object) => policyOf({ ...staging, spec: specOf({ pin: 'Digest', rollout, ...spec }) });
  const unwatched = policyOf({ ...staging, spec: specOf({ pin: 'Digest' }) });
  const rows: readonly (readonly [name: string, kinds: string, ...Parameters<typeof kindsOf>])[] = [
    ['a policy that follows none', '', staging, []],
    ['in order, though nothing is known of what it runs', '', follower(staging), [staging]],
    ['pins tags', 'NeverShown 0', follower(staging), [but({ pin: 'Tag' })]],
    ['does not watch its rollouts', 'NeverShown 0', follower(staging), [unwatched]],
    ['does not exist', 'Missing 1', follower(staging, here), [staging]],
    [
      'has an invalid spec, which its own status says',
      '',
      follower(staging),
      [policyOf({ ...staging, spec: { problem: { reason: 'InvalidPolicy', message: 'no' } } })],
    ],
    [
      'a circle',
      'Circle 0',
      follower(here, staging),
      [policyOf({ ...follower({ namespace: 'shop', name: 'production' }), name: 'here' }), staging],
    ],
  ];
  for (const [name, kinds, policy, others, view] of rows) assert.equal(kindsOf(policy, others, view), kinds, name);
});

test('without consent, nothing about a followed policy is revealed', () => {
  const pinned = policyOf({ ...staging, spec: specOf({ rollout }) });
  for (const namespaceConsent of [() => null, () => undefined, () => 'ops'])
    for (const others of [[], [pinned], [staging]]) assert.equal(kindsOf(follower(staging), others, { namespaceConsent }), 'NotSeen 0');
  assert.equal(kindsOf(follower(staging), [{ ...pinned, allowPoliciesFrom: 'shop' }], { namespaceConsent: () => null }), 'NeverShown 0');
});
