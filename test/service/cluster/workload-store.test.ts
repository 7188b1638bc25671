import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkloadStore } from '../../../src/service/cluster/workload-store.ts';
import { workloadOf } from '../../core/model/samples.ts';

const named = (name: string, labels: Record<string, string>, resourceVersion = '1', namespace = 'shop') =>
  workloadOf({ web: 'nginx:1' }, { name, namespace, uid: name, labels, resourceVersion });

test('workloads with a consent annotation for policies of other namespaces are indexed separately', () => {
  const store = createWorkloadStore();
  const annotated = (namespace = 'shop') => [...store.in(namespace, { matchLabels: { app: 'x' } }, 'annotated')].map(({ name }) => name);
  store.put(named('a', {}));
  store.put({ ...named('b', {}), allowPoliciesFrom: '' });
  store.put({ ...named('c', {}, '1', 'ops'), allowPoliciesFrom: '*' });
  assert.deepEqual([annotated(), annotated('ops'), annotated('nowhere')], [['b'], ['c'], []]);
  store.put(named('b', {}, '2'));
  store.put({ ...named('a', {}, '2'), allowPoliciesFrom: 'ops' });
  assert.deepEqual(annotated(), ['a']);
});

test('a selector uses the index of its rarest label, which follows all changes', () => {
  const store = createWorkloadStore();
  const names = (matchLabels?: Record<string, string>, namespace = 'shop') =>
    [...store.in(namespace, matchLabels && { matchLabels })].map(({ name }) => name).sort();
  for (const name of ['a', 'b', 'c']) store.put(named(name, { uses: 'base', app: name }));
  store.put(named('d', { uses: 'base' }, '1', 'ops'));
  assert.deepEqual([names(), names({ uses: 'base' }), names({ uses: 'base', app: 'b' })], [['a', 'b', 'c'], ['a', 'b', 'c'], ['b']]);
  assert.deepEqual([names({ uses: 'base', app: 'x' }), names({ uses: 'base' }, 'ops'), names({}, 'nowhere')], [[], ['d'], []]);
  store.put(named('b', { app: 'b' }, '2'));
  store.remove({ namespace: 'shop', name: 'c', resourceVersion: '3' });
  assert.deepEqual([names(), names({ uses: 'base' })], [['a', 'b'], ['a']]);
  store.put({ ...named('a', { uses: 'other' }, '4'), uid: 'created-anew' });
  assert.deepEqual([names(), names({ uses: 'base' }), names({ uses: 'other' })], [['a', 'b'], [], ['a']]);
});
