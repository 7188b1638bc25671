import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFollowerIndex } from '../../../src/service/cluster/policy-indexes.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';

test('the followers of a policy are found by its name, until they follow another one or are gone', () => {
  const index = createFollowerIndex();
  const staging = { namespace: 'staging', name: 'web' };
  const follower = (name: string, ...policies: (typeof staging)[]) =>
    policyOf({ name, spec: specOf(policies.length === 0 ? {} : { after: { policies, forMs: 0 } }) });
  const names = () => index.followersOf(staging).map(({ namespace, name }) => `${namespace}/${name}`);
  index.put(follower('a', staging));
  index.put(follower('b', { ...staging, name: 'other' }, staging));
  index.put(follower('c'));
  assert.deepEqual(names(), ['shop/a', 'shop/b']);
  index.put(follower('a', { ...staging, name: 'other' }));
  assert.deepEqual(names(), ['shop/b']);
  index.remove({ namespace: 'shop', name: 'b' });
  assert.deepEqual(names(), []);
});
