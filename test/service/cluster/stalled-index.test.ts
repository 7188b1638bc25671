import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStalledIndex } from '../../../src/service/cluster/policy-indexes.ts';
import { policyOf, stalledStatus } from '../../core/model/samples.ts';

const denied = { status: stalledStatus('RegistryDenied') };

test('stalled policies that a Secret may heal are found by their namespace, or all together', () => {
  const index = createStalledIndex();
  const names = (namespace?: string) => index.stalledIn(namespace).map((policy) => `${policy.namespace}/${policy.name}`);
  index.put(policyOf({ name: 'a', ...denied }));
  index.put(policyOf({ name: 'b', ...denied }));
  index.put(policyOf({ name: 'c', namespace: 'ops', ...denied }));
  index.put(policyOf({ name: 'content' }));
  index.put(policyOf({ name: 'other', status: stalledStatus('TargetNotFound') }));
  assert.deepEqual(
    [names('shop'), names('ops'), names('none'), names()],
    [['shop/a', 'shop/b'], ['ops/c'], [], ['shop/a', 'shop/b', 'ops/c']],
  );
  index.put(policyOf({ name: 'a' }));
  index.remove({ namespace: 'ops', name: 'c' });
  index.remove({ namespace: 'ops', name: 'c' });
  assert.deepEqual(names(), ['shop/b']);
});
