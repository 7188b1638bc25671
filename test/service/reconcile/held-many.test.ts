/** Manual changes of workloads that do not roll out, where a policy has more targets than its history holds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyTarget } from '../../../src/core/model/image-policy.ts';
import { refOf, workloadKey, type Workload } from '../../../src/core/model/workload.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf, policyOf, specOf, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf } from './world.ts';

/** Runs this tag, by the hand of this manager. */
type Made = (tag: string, owner: string) => Partial<Workload>;
const kinds: [kind: string, target: Pick<PolicyTarget, 'apiVersion' | 'kind' | 'fields'>, made: Made][] = [
  ['CronJobs', { kind: 'CronJob' }, (tag, imageOwner) => workloadOf({ web: { image: `${image}:${tag}`, imageOwner } })],
  [
    'custom resources by their fields',
    { apiVersion: 'example.com/v1', kind: 'Machine', fields: { image: 'spec.image' } },
    (tag, owner) => ({ containers: [], fields: { 'spec.image': { value: `${image}:${tag}`, owner } } }),
  ],
];

for (const [kind, target, made] of kinds) {
  test(`a manual change is held, even with more ${kind} than the history has room for`, async () => {
    const targets = Array.from({ length: 12 }, (_, index) => ({ ...target, namespace: 'shop', name: `job-${index}` }));
    const world = createWorld();
    world.put(policyOf({ spec: specOf({ targets }), status: { observedGeneration: 1 } }));
    const push = () => processPush(pushOf({ tag: '1.3.0', digest: digestOf('b') }), contextOf(), world.ports);
    const reasons = () => world.statusOf('web').conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
    for (const ref of targets) {
      const workload = { ...workloadOf({}), ...made('1.2.3', 'kubectl-create'), ...refOf(ref) };
      world.workloads.set(workloadKey(ref), workload);
    }
    const patches = () => world.requests.filter((request) => request.startsWith('PATCH')).length;
    await push();
    assert.deepEqual([patches(), world.statusOf('web').history?.length], [12, 10]);
    for (const [key, workload] of world.workloads) {
      const { fields, containers = [] } = made('1.2.3', 'kubectl-set');
      const kept = containers.map((container, index) => ({ ...workload.containers[index], ...container }));
      world.workloads.set(key, { ...workload, ...(fields && { fields }), containers: kept });
    }
    await push();
    assert.deepEqual([patches(), reasons()], [12, ['Ready=True Held', 'Held=True Held']]);
  });
}
