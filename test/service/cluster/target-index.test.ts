import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyKey } from '../../../src/core/model/image-policy.ts';
import type { PolicyTarget } from '../../../src/core/model/image-policy.ts';
import { createTargetIndex } from '../../../src/service/cluster/policy-indexes.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';

const named = (name: string): PolicyTarget => ({ kind: 'Deployment', namespace: 'shop', name });
const selecting = (app: string): PolicyTarget => ({ kind: 'Deployment', namespace: 'shop', selector: { matchLabels: { app } } });
const web = { kind: 'Deployment', namespace: 'shop', name: 'web', labels: { app: 'web' } };

function indexOf(policies: Readonly<Record<string, readonly PolicyTarget[]>>) {
  const index = createTargetIndex();
  const put = (key: string, targets: readonly PolicyTarget[]) => {
    const [namespace = '', name = ''] = key.split('/');
    index.put(policyOf({ namespace, name, spec: specOf({ targets }) }));
  };
  for (const [key, targets] of Object.entries(policies)) put(key, targets);
  const found = (maySee = (_namespace: string) => true) =>
    index
      .policiesOf(web, ({ namespace }) => maySee(namespace))
      .map(policyKey)
      .sort();
  return { ...index, put, found };
}

test('a workload is found by its name and by its labels, once for each policy', () => {
  const { found } = indexOf({
    'shop/name': [named('web')],
    'shop/other': [named('api')],
    'shop/label': [selecting('web'), selecting('api')],
    'shop/both': [named('web'), selecting('web')],
    'shop/no-label': [selecting('api')],
  });
  assert.deepEqual(found(), ['shop/both', 'shop/label', 'shop/name']);
});

test('a policy is found by its present targets only', () => {
  const index = indexOf({ 'shop/a': [named('web')], 'shop/b': [named('web'), selecting('web')], 'shop/c': [selecting('web')] });
  index.put('shop/b', [selecting('api')]);
  assert.deepEqual(index.found(), ['shop/a', 'shop/c']);
  index.remove({ namespace: 'shop', name: 'a' });
  index.remove({ namespace: 'shop', name: 'a' });
  index.put('shop/b', [named('web')]);
  assert.deepEqual(index.found(), ['shop/b', 'shop/c']);
});

test('the policies of one namespace are filtered by a single consent question about the workload', () => {
  const asked: string[] = [];
  const { found } = indexOf({ 'ops/a': [named('web')], 'ops/b': [named('web')], 'shop/c': [named('web')], 'shop/d': [named('web')] });
  const maySee = (namespace: string) => {
    asked.push(namespace);
    return namespace === 'shop';
  };
  assert.deepEqual(found(maySee), ['shop/c', 'shop/d']);
  assert.deepEqual(asked, ['ops', 'shop']);
});
