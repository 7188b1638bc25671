/** A failed change counts as rolled back only by its own rollback, also where a later one has led to the same image. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rollbacksOf } from '../../../src/core/rollout/automatic-rollback.ts';
import { fieldManager, type LastUpdate } from '../../../src/core/model/last-update.ts';
import type { HistoryEntry } from '../../../src/core/model/policy-status.ts';
import { watchedSpec } from './rollout-samples.ts';
import { noSources, policyOf, webDeployment, workloadOf } from '../model/samples.ts';

const image = (tag: string) => `registry.example.com/shop/web:${tag}`;
const failed: HistoryEntry = {
  ...webDeployment,
  container: 'web',
  from: image('1.2.3'),
  to: image('1.3.0'),
  tag: '1.3.0',
  trigger: 'Webhook',
  at: '2026-01-01T00:00:00.000Z',
  result: 'Failed',
};
const policy = policyOf({ spec: watchedSpec('Rollback'), status: { history: [failed] } });
const back = (update: Partial<LastUpdate>) => {
  const lastUpdate = {
    policy: 'another',
    at: '2026-01-01T00:00:09.000Z',
    trigger: 'Rollback',
    from: image('1.3.0'),
    to: image('1.2.3'),
    ...update,
  } as const;
  const workload = workloadOf({ web: { image: image('1.2.3'), imageOwner: fieldManager, lastUpdate } });
  return rollbacksOf(policy, workload, noSources).map(({ isDone, at }) => [isDone, at]);
};

test('a failed change counts as rolled back at the time that the workload records for the rollback', () => {
  assert.deepEqual(back({}), [[true, '2026-01-01T00:00:09.000Z']]);
});

test('a failed change is not rolled back by the rollback of a later change, or by a new change to the former image', () => {
  assert.deepEqual(back({ from: image('1.5.0') }), []);
  assert.deepEqual(back({ trigger: 'Webhook' }), []);
});
