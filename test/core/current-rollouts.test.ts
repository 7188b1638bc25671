import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rollbacksOf } from '../../src/core/automatic-rollback.ts';
import { currentRollouts } from '../../src/core/current-rollouts.ts';
import type { HistoryEntry } from '../../src/core/policy-status.ts';
import { viewOf, watchedSpec } from './rollout-samples.ts';
import { noAliases, policyOf, webDeployment, workloadOf } from './samples.ts';

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

test('an init container is followed and put back like every other, at its own place', () => {
  const initContainers = [
    { name: 'seed', image: 'busybox:1' },
    { name: 'migrate', image: to },
  ];
  const workload = workloadOf({ web: to }, { initContainers });
  const history = [entry('web', 'Failed'), entry('migrate', 'Failed')];
  const spec = watchedSpec('Rollback', { targets: [{ ...webDeployment, initContainers: true }] });
  const policy = policyOf({ spec, status: { history } });
  const [rollout] = currentRollouts(policy, viewOf(workload));
  assert.deepEqual(
    rollout?.entries.map(({ container }) => container),
    ['web', 'migrate'],
  );
  assert.deepEqual(
    rollbacksOf(policy, workload, noAliases).map(({ container, index, init }) => [container.name, index, init]),
    [
      ['web', 0, undefined],
      ['migrate', 1, true],
    ],
  );
});
