/** What the doctor is given about all policies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { surveyPolicies } from '../../../src/service/doctor-facts/survey-policies.ts';
import { policyOf, specOf, workloadOf } from '../../core/model/samples.ts';

const never = new AbortController().signal;
const names = ['api', 'web'];
const targets = names.map((name) => ({ kind: 'Deployment', namespace: 'shop', name }));
const waves = { maxParallel: 5, pauseMs: 600_000, maxFailures: 1, canaries: { matchLabels: { canary: 'yes' } } };

async function withoutCanaries(labels: Readonly<Record<string, string>>, spec: Partial<PolicySpec> = {}) {
  const workloads = names.map((name, index) => workloadOf({ web: 'r/shop/web:1.2.3' }, { name, labels: index === 0 ? labels : {} }));
  const cluster = {
    crossNamespace: 'deny',
    namespaceConsent: () => null,
    findWorkload: ({ name }: { readonly name: string }) => workloads.find((one) => one.name === name),
    listWorkloads: () => workloads,
  } as const;
  const policy = policyOf({ spec: specOf({ targets, rollout: { timeoutMs: 600_000, onFailure: 'Hold', waves }, ...spec }) });
  return (await surveyPolicies({ policies: () => [policy], cluster }, { hosts: [], prometheus: [], jobs: false, analysis: false }, never))
    .withoutCanaries;
}

test('policies are found whose waves should begin with canaries, and that have several workloads, but no canary', async () => {
  assert.deepEqual(await withoutCanaries({ canary: 'no' }), [{ policy: 'shop/web', workloads: 2 }]);
  assert.deepEqual(await withoutCanaries({ canary: 'yes' }), []);
  assert.deepEqual(await withoutCanaries({}, { targets: targets.slice(0, 1) }), []);
  assert.deepEqual(await withoutCanaries({}, { suspended: true }), []);
});
