import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKindQuota } from '../../../src/service/cluster/kind-quota.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { kindKey } from '../../../src/core/model/workload.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';

const custom = (kind: string) => ({ apiVersion: 'example.com/v1', kind });
const naming = (name: string, kinds: string[], more: Partial<ImagePolicy> = {}) => {
  const targets = kinds.map((kind) => ({ ...(kind === 'Deployment' ? { kind } : custom(kind)), namespace: 'shop', name: 'web' }));
  return policyOf({ name, spec: specOf({ targets }), ...more });
};
const quotaOf = (max: number, ...policies: ImagePolicy[]) => {
  const quota = createKindQuota(max);
  for (const policy of policies) quota.put(policy);
  return quota;
};
const allowedKinds = (quota: ReturnType<typeof createKindQuota>) => quota.allowed().map(({ kind }) => kind);

test('kinds up to the limit are allowed, each counted once, and kinds built into Kubernetes do not count', () => {
  const quota = quotaOf(2, naming('a', ['A', 'Deployment']), naming('b', ['A', 'B', 'Deployment']));
  assert.deepEqual(allowedKinds(quota), ['A', 'Deployment', 'B']);
  assert.equal(quota.problemOf('shop', custom('B')), undefined);
  const over = quotaOf(1, naming('a', ['A']), naming('b', ['B', 'Deployment']));
  assert.equal(over.problemOf('shop', { kind: 'Deployment' }), undefined);
});

test('the oldest policies get the quota of kinds first, then those first by name, in whatever order they are seen', () => {
  const old = naming('z', ['Z'], { createdAt: '2026-01-01T00:00:00Z' });
  const young = ['c', 'a', 'b'].map((name) => naming(name, [name.toUpperCase()], { createdAt: '2026-02-01T00:00:00Z' }));
  for (const policies of [[old, ...young], [...young, old], young.toSpliced(1, 0, old)])
    assert.deepEqual(allowedKinds(quotaOf(2, ...policies)), ['Z', 'A']);
});

test('a kind over the limit is reported with what to do, and other namespaces are not affected', () => {
  const quota = quotaOf(2, naming('a', ['A', 'B', 'C']), naming('a', ['C'], { namespace: 'ops' }));
  const problem = quota.problemOf('shop', custom('C'));
  assert.equal(problem?.reason, 'TooManyKinds');
  assert.match(problem?.message ?? '', /namespace shop name more than 2 kinds.*C of example\.com\/v1.*remove targets/);
  assert.equal(quota.problemOf('ops', custom('C')), undefined);
  assert.deepEqual(quota.allowedOf(naming('a', ['A', 'B', 'C'])).map(kindKey), ['example.com/v1/A', 'example.com/v1/B']);
});

test('edits and deletions of policies free quota of kinds', () => {
  const quota = quotaOf(1, naming('a', ['A']), naming('b', ['B']));
  assert.equal(quota.problemOf('shop', custom('B'))?.reason, 'TooManyKinds');
  quota.put(naming('a', ['B']));
  assert.equal(quota.problemOf('shop', custom('B')), undefined);
  quota.put(naming('a', ['A']));
  quota.remove({ namespace: 'shop', name: 'a' });
  quota.remove({ namespace: 'shop', name: 'never' });
  assert.deepEqual(allowedKinds(quota), ['B']);
  quota.remove({ namespace: 'shop', name: 'b' });
  assert.deepEqual(allowedKinds(quota), []);
});

test('a policy that cannot be parsed counts no kinds', () => {
  assert.deepEqual(allowedKinds(quotaOf(1, policyOf({ spec: { problem: { reason: 'InvalidPolicy', message: 'no' } } }))), []);
});
