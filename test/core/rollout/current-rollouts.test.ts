import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rollbacksOf } from '../../../src/core/rollout/automatic-rollback.ts';
import { currentRollouts } from '../../../src/core/rollout/current-rollouts.ts';
import type { HistoryEntry } from '../../../src/core/model/policy-status.ts';
import { snapshotFrom, watchedSpec } from './rollout-samples.ts';
import { noSources, policyOf, webDeployment, workloadOf } from '../model/samples.ts';

const [from, to] = ['registry.example.com/shop/web:1.2.3', 'registry.example.com/shop/web:1.3.0'];
const entry = (container: string, result: HistoryEntry['result']): HistoryEntry => ({
  ...webDeployment,
  container,
  from,
  to,
  tag: '1.3.0',
  trigger: 'Webhook',
  at: '2026-01-01T00:00:00Z',
  result,
});

test('init containers and image volumes are followed and rolled back like containers, at their own indexes', () => {
  const initContainers = [
    { name: 'seed', image: 'busybox:1' },
    { name: 'migrate', image: to },
  ];
  const volumes = [{ name: 'volumes/web', image: to, index: 3 }];
  const workload = workloadOf({ web: to }, { initContainers, volumes });
  const history = ['web', 'migrate', 'volumes/web'].map((name) => entry(name, 'Failed'));
  const spec = watchedSpec('Rollback', { targets: [{ ...webDeployment, initContainers: true, volumes: true }] });
  const policy = policyOf({ spec, status: { history } });
  const [rollout] = currentRollouts(policy, snapshotFrom(policy, [workload]));
  assert.deepEqual(
    rollout?.entries.map(({ container }) => container),
    ['web', 'migrate', 'volumes/web'],
  );
  assert.deepEqual(
    rollbacksOf(policy, workload, noSources).map(({ container, position }) => [container.name, position]),
    [
      ['web', { index: 0 }],
      ['migrate', { index: 1, list: 'initContainers' }],
      ['volumes/web', { index: 3, list: 'volumes' }],
    ],
  );
  const narrow = policyOf({ spec: watchedSpec('Rollback'), status: { history } });
  assert.deepEqual(
    rollbacksOf(narrow, workload, noSources).map(({ container }) => container.name),
    ['web'],
    'what the policy does not mean any more',
  );
});
