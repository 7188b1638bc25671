import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measurePolicies } from '../../../src/service/telemetry/measure-policies.ts';
import { createMetrics } from '../../../src/service/telemetry/metrics.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { policyOf } from '../../core/model/samples.ts';

const condition = (status: 'True' | 'False', reason: string): Pick<ImagePolicy, 'status'> => ({
  status: { conditions: [{ type: 'Ready', status, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }] },
});
const ready = condition('True', 'UpToDate');
const failing = condition('False', 'RegistryDenied');
const many = (namespace: string, count: number, state: Pick<ImagePolicy, 'status'>) =>
  Array.from({ length: count }, (_, index) => policyOf({ namespace, name: `p${index}`, ...state }));

/** The lines of both metrics after each of these measurements. */
async function measure(max: number, ...policies: readonly (readonly ImagePolicy[])[]): Promise<string[]> {
  const metrics = createMetrics();
  for (const measured of policies) measurePolicies(measured, max, metrics);
  const text = await metrics.registry.metrics();
  return text.split('\n').filter((line) => /^image_watcher_polic(?:y_ready|ies_without_metric)\b/.test(line));
}

test('the metric of a policy has its state and reason, and disappears when the policy is gone or has changed', async () => {
  const earlierPolicies = [policyOf({ name: 'a', ...ready }), policyOf({ name: 'gone', ...ready })];
  const laterPolicies = [policyOf({ name: 'a', ...failing }), policyOf({ name: 'new' })];
  assert.deepEqual(await measure(10, earlierPolicies, laterPolicies), [
    'image_watcher_policy_ready{namespace="shop",name="a",reason="RegistryDenied"} 0',
    'image_watcher_policy_ready{namespace="shop",name="new",reason="NotReconciled"} 0',
    'image_watcher_policies_without_metric 0',
  ]);
});

test('policies are counted by their state, and a state that no policy is in any more is 0', async () => {
  const metrics = createMetrics();
  const waiting = condition('True', 'UpToDate');
  const approval = {
    type: 'ApprovalRequired',
    status: 'True',
    reason: 'ApprovalRequired',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  const asking = policyOf({ name: 'asking', status: { conditions: [...(waiting.status.conditions ?? []), approval] } });
  const countsAfter = async (policies: readonly ImagePolicy[]) => {
    measurePolicies(policies, 0, metrics);
    const { values } = await metrics.policiesInState.get();
    return Object.fromEntries(values.flatMap(({ labels, value }) => (value === 0 ? [] : [[labels.state, value]])));
  };
  assert.deepEqual(await countsAfter([...many('shop', 2, ready), asking, policyOf({ name: 'new' })]), {
    ApprovalRequired: 1,
    Ready: 2,
    Unknown: 1,
  });
  assert.deepEqual(await countsAfter(many('shop', 2, ready)), { Ready: 2 });
});

test('by default no policy has a metric', async () => {
  assert.deepEqual(await measure(0, many('shop', 3, ready)), ['image_watcher_policies_without_metric 0']);
});

test('a reason that somebody else wrote gets the metric label "other"', async () => {
  const [line] = await measure(10, [policyOf(condition('False', 'Forged-4711'))]);
  assert.equal(line, 'image_watcher_policy_ready{namespace="shop",name="web",reason="other"} 0');
});

test('above the maximum, metrics are kept for policies that are not ready first, and fairly between namespaces', async () => {
  const lines = await measure(4, [...many('greedy', 100, failing), ...many('calm', 2, ready), ...many('small', 1, failing)]);
  const kept = lines.map((line) => line.replace(/.*namespace="(\w+)",name="(\w+)".*/, '$1/$2'));
  assert.deepEqual(kept, ['greedy/p0', 'small/p0', 'greedy/p1', 'greedy/p10', 'image_watcher_policies_without_metric 99']);
});
