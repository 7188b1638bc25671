import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commonImage, followedBy, followedOf, proofOf, type FollowView } from '../../../src/core/plan/proven.ts';
import { isUsable, policyKey, type ImagePolicy, type ProofRules } from '../../../src/core/model/image-policy.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { digestOf, policyOf, specOf } from '../model/samples.ts';

const rollout = { timeoutMs: 600_000, onFailure: 'Rollback' } as const;
const healthy = { tag: '1.3.0', digest: digestOf('b'), since: '2026-03-01T12:00:00Z' };
const status = { observedGeneration: 1, healthy };
const spec = specOf({ pin: 'Digest', rollout });
const staging = policyOf({ namespace: 'staging', spec, status });
const production = (policies: ProofRules['policies'], policy: Partial<ImagePolicy> = {}) =>
  policyOf({
    name: 'production',
    spec: specOf({ strategy: strategies.proven(), pin: 'Digest', after: { policies, forMs: 60_000 } }),
    ...policy,
  });
const viewOf = (policies: readonly ImagePolicy[], view: Partial<FollowView> = {}): FollowView => ({
  crossNamespace: 'consent',
  namespaceConsent: () => null,
  findPolicy: (namespace, name) => policies.find((policy) => policyKey(policy) === policyKey({ namespace, name })),
  ...view,
});
const see = (policy: ImagePolicy, view: FollowView) => (isUsable(policy.spec) ? followedBy(policy, policy.spec, view) : []);

test('a followed policy shows the image that it runs in good health, or the reason why it shows none', () => {
  const show = (policy: Partial<ImagePolicy>) => followedOf(staging, { ...staging, ...policy }, undefined);
  assert.deepEqual(show({}), { namespace: 'staging', name: 'web', ...healthy });
  const rows: readonly (readonly [Partial<ImagePolicy>, RegExp])[] = [
    [{ status: { observedGeneration: 1 } }, /does not show that all of its targets run one image/],
    [{ generation: 2 }, /has changed and has not been evaluated/],
    [{ spec: { ...spec, suspended: true } }, /suspended/],
    [{ spec: specOf({ rollout }) }, /pins tags/],
    [{ spec: specOf({ pin: 'Digest' }) }, /its rollouts are not watched/],
    [{ spec: { problem: { reason: 'InvalidPolicy', message: 'no' } } }, /cannot be used/],
  ];
  for (const [policy, message] of rows) assert.match(show(policy).message ?? '', message);
  assert.match(followedOf(staging, undefined, undefined).message ?? '', /does not exist/);
});

test('a followed policy in another namespace reveals nothing, not even that it exists, until its owners consent', () => {
  const follower = production([staging]);
  const missing = see(follower, viewOf([]));
  assert.deepEqual(see(follower, viewOf([staging])), missing);
  assert.match(missing[0]?.message ?? '', /either does not exist or its owners have not consented: .*allow-policies-from: "shop"/);
  const shows = (view: FollowView) => see(follower, view)[0]?.digest === digestOf('b');
  assert.ok(shows(viewOf([staging], { namespaceConsent: () => 'ops,shop' })));
  assert.ok(shows(viewOf([{ ...staging, allowPoliciesFrom: 'shop' }])));
  assert.ok(shows(viewOf([staging], { crossNamespace: 'allow' })));
  assert.ok(
    !shows(viewOf([{ ...staging, allowPoliciesFrom: 'ops' }], { namespaceConsent: () => '*' })),
    'the annotation of the policy decides',
  );
  assert.ok(!shows(viewOf([staging], { namespaceConsent: () => undefined })), 'what is not known is no consent');
  assert.ok(!shows(viewOf([{ ...staging, allowPoliciesFrom: '*' }], { crossNamespace: 'deny' })));
});

test('policies that follow each other in a circle prove nothing', () => {
  const a = production([{ namespace: 'shop', name: 'b' }], { name: 'a', status });
  const b = production([{ namespace: 'shop', name: 'c' }], { name: 'b', status });
  const c = production([{ namespace: 'shop', name: 'a' }], { name: 'c', status });
  for (const policy of [a, b, c]) assert.match(see(policy, viewOf([a, b, c]))[0]?.message ?? '', /in a circle/);
  const self = production([{ namespace: 'shop', name: 'self' }], { name: 'self', status });
  assert.match(see(self, viewOf([self]))[0]?.message ?? '', /in a circle/);
  const open = production([{ namespace: 'shop', name: 'web' }], { name: 'c' });
  assert.doesNotMatch(see(a, viewOf([a, b, open]))[0]?.message ?? '', /in a circle/);
});

test('the proven image is the one digest that all followed policies run', () => {
  const one = { namespace: 'a', name: 'web', ...healthy };
  const other = { namespace: 'b', name: 'web', ...healthy, tag: 'other-name' };
  assert.deepEqual(commonImage([one, other]), { tag: '1.3.0', digest: digestOf('b') });
  assert.ok('message' in commonImage([one, { ...other, digest: digestOf('c') }]));
  assert.match(JSON.stringify(commonImage([one, { namespace: 'b', name: 'web', message: 'it is suspended' }])), /b\/web: it is suspended/);
  const { tag: _, ...nameless } = one;
  assert.deepEqual(commonImage([nameless]), { tag: 'sha256-bbbbbbbbbbbb', digest: digestOf('b') });
});

test('a digest is proven when all followed policies have run it for the demanded time, counted from the last of them', () => {
  const candidate = { tag: '1.3.0', digest: digestOf('b') };
  const policies = [
    { namespace: 'a', name: 'web', ...healthy },
    { namespace: 'b', name: 'web', ...healthy, since: '2026-03-01T12:10:00Z' },
  ];
  const proof = (time: string, forMs: number, tried = candidate) => proofOf(tried, { policies, forMs }, { policies, at: new Date(time) });
  assert.equal(proof('2026-03-01T12:10:59Z', 60_000).kind, 'waits');
  assert.deepEqual(proof('2026-03-01T12:11:00Z', 60_000), { kind: 'proven' });
  assert.equal(proof('2026-03-01T12:09:59Z', 0).kind, 'waits', 'a time that has not come does not count');
  assert.equal(proof('2026-03-02T12:00:00Z', 60_000, { ...candidate, digest: digestOf('c') }).kind, 'missing');
  const unknown = proofOf({ tag: '1.3.0' }, { policies, forMs: 0 }, { policies, at: new Date('2027-01-01T00:00:00Z') });
  assert.equal(unknown.kind, 'missing');
});
