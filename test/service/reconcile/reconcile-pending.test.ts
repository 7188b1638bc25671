/** What waits keeps its place until somebody looks at it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workloadKey } from '../../../src/core/model/workload.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf, policyOf, specOf, webDeployment, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf } from './world.ts';

test('a push of an older tag that changes one target keeps the pending candidate of the others', async () => {
  const world = createWorld();
  const behind = { ...webDeployment, name: 'behind' };
  world.workloads.set(workloadKey(behind), workloadOf({ web: `${image}:1.0.0` }, { name: 'behind', uid: 'uid-of-behind' }));
  const waiting = { tag: '1.3.0', digest: digestOf('b'), until: '2026-03-01T12:30:00Z', reason: 'TooManyChanges' };
  const latest = { tag: '1.3.0', digest: digestOf('b'), selectedAt: '2026-03-01T11:00:00Z' };
  const status = { observedGeneration: 1, waiting, latest, lastAppliedTag: '1.2.3' };
  world.put(policyOf({ spec: specOf({ targets: [webDeployment, behind] }), status }));
  world.tags.set('1.2.2', digestOf('c'));
  await processPush(pushOf({ tag: '1.2.2', digest: digestOf('c') }), contextOf(), world.ports);
  assert.equal(world.workloads.get(workloadKey(behind))?.containers[0]?.image, `${image}:1.2.2`);
  assert.deepEqual(world.statusOf('web').waiting, waiting);
});
