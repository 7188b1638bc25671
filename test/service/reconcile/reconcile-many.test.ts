/** Policies of more workloads than their status has room for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workloadKey } from '../../../src/core/model/workload.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf, policyOf, specOf, webDeployment, workloadOf } from '../../core/model/samples.ts';
import { rolloutOf } from '../../core/rollout/rollout-samples.ts';
import { contextOf, createWorld, image, pushOf, startTime } from './world.ts';

test('reverted: a GitOps tool that reverts thirty workloads is not fought endlessly', async () => {
  let at = startTime;
  const world = createWorld({ cluster: { now: () => at } });
  const labels = { app: 'web' };
  const putBack = () => {
    for (let index = 0; index < 30; index++) {
      const name = `web-${index}`;
      const key = workloadKey({ ...webDeployment, name });
      const remembered = world.workloads.get(key)?.containers[0] ?? { name: 'web' };
      const web = { ...remembered, image: `${image}:1.2.3`, imageOwner: 'argocd-controller' };
      world.workloads.set(key, workloadOf({ web }, { name, uid: `uid-${index}`, labels, rollout: rolloutOf() }));
    }
  };
  putBack();
  const targets = [{ kind: 'Deployment', namespace: 'shop', selector: { matchLabels: labels } }];
  world.put(policyOf({ spec: specOf({ targets }), status: { observedGeneration: 1 } }));
  for (let round = 0; round < 5; round++) {
    await processPush(pushOf({ tag: '1.3.0', digest: digestOf('b') }), contextOf(), world.ports);
    at += 60_000;
    putBack();
  }
  assert.equal(world.requests.filter((request) => request.startsWith('PATCH')).length, 60);
  assert.equal(world.statusOf('web').conditions?.find(({ type }) => type === 'Stalled')?.reason, 'ChangeReverted');
});
