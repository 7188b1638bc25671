import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkloadRollout } from '../../../src/core/model/workload.ts';
import { countPods } from '../../../src/service/explain/count-pods.ts';
import { policyOf, specOf, workloadOf } from '../../core/model/samples.ts';
import { samplePorts } from '../api/sample-policies.ts';

const complete: WorkloadRollout = {
  observedGeneration: 3,
  wanted: 3,
  toUpdate: 3,
  updated: 3,
  available: 3,
  outdated: 0,
  wasComplete: true,
};
const deployment = (name: string, rollout?: WorkloadRollout) => ({
  ...workloadOf({ web: 'registry.example.com/shop/web:1.2.3' }),
  name,
  generation: 3,
  ...(rollout && { rollout }),
});

/** The pods of a policy with these workloads. */
function podsOf(...workloads: readonly ReturnType<typeof deployment>[]) {
  const policy = policyOf({
    spec: specOf({ targets: workloads.map(({ name, namespace }) => ({ kind: 'Deployment', name, namespace })) }),
  });
  const cluster = { ...samplePorts([]).cluster, findWorkload: (ref: { name: string }) => workloads.find(({ name }) => name === ref.name) };
  return countPods({ policy }, cluster);
}

test('the pods of all workloads are counted, without surge pods of a rollout, and kinds without pods count none', () => {
  assert.deepEqual(podsOf(deployment('web', complete), deployment('api', { ...complete, updated: 1, available: 4 }), deployment('cron')), {
    wanted: 6,
    available: 6,
    toUpdate: 6,
    updated: 4,
  });
  assert.equal(podsOf(deployment('cron')), undefined);
});

test('the pods of an older revision do not count as updated, and a policy that is not considered has no pods', () => {
  assert.deepEqual(podsOf(deployment('web', { ...complete, observedGeneration: 2, available: 2 })), {
    wanted: 3,
    available: 2,
    toUpdate: 3,
    updated: 0,
  });
  const policy = policyOf({ name: 'web' });
  assert.equal(countPods({ policy, why: 'its namespace is not selected' }, samplePorts([]).cluster), undefined);
});
