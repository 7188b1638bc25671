import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyKey, type ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { parseImageReference } from '../../../src/core/model/image-reference.ts';
import { createPolicyIndex } from '../../../src/service/cluster/policy-indexes.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';

const watching = (name: string, image: string, namespace = 'shop') =>
  policyOf({ namespace, name, spec: specOf({ repository: parseImageReference(image).repository }) });

function indexOf(...policies: ImagePolicy[]) {
  const index = createPolicyIndex();
  for (const policy of policies) index.put(policy);
  return { ...index, names: (image: string) => index.match(parseImageReference(image).repository).map(policyKey) };
}

test('the index finds the policies of exactly this repository, ordered by name', () => {
  const index = indexOf(
    watching('b', 'team/app'),
    watching('a', 'docker.io/team/app'),
    watching('longer', 'team/app-foo'),
    watching('shorter', 'team/ap'),
    watching('elsewhere', 'ghcr.io/team/app'),
    watching('a', 'team/app', 'ops'),
  );
  assert.deepEqual(index.names('index.docker.io/team/app'), ['ops/a', 'shop/a', 'shop/b']);
  assert.deepEqual(index.names('team/app-foo'), ['shop/longer']);
  assert.deepEqual(index.names('team'), []);
  assert.deepEqual(index.names('nginx'), []);
});

test('a policy is found under its current repository', () => {
  const index = indexOf(watching('a', 'team/app'), watching('a', 'team/other'));
  assert.deepEqual([index.names('team/app'), index.names('team/other')], [[], ['shop/a']]);
  index.put(policyOf({ name: 'a', spec: { problem: { reason: 'InvalidPolicy', message: 'broken' } } }));
  assert.deepEqual(index.names('team/other'), []);
});

test('a policy that cannot be used is found under the repository that it names', () => {
  const { repository } = parseImageReference('team/app');
  const problem = { reason: 'InvalidPolicy', message: 'broken' } as const;
  const index = indexOf(policyOf({ name: 'a', spec: { problem, scope: { repository, targets: [], strategy: {} } } }));
  assert.deepEqual(index.names('team/app'), ['shop/a']);
});

test('a removed policy is not found, and removing it twice is harmless', () => {
  const index = indexOf(watching('a', 'team/app'), watching('b', 'team/app'));
  index.remove({ namespace: 'shop', name: 'a' });
  index.remove({ namespace: 'shop', name: 'a' });
  index.remove({ namespace: 'shop', name: 'unknown' });
  assert.deepEqual(index.names('team/app'), ['shop/b']);
});
