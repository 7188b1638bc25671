/** What users ask for by annotations, beside all else that happens to the policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { PolicyActions } from '../../../src/core/model/policy-actions.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { neededReconciles } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { digestOf, policyOf, specOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, type World } from './world.ts';

function policyIn(world: World) {
  const policy = world.policies.get('shop/web');
  assert.ok(policy);
  return policy;
}

async function start(actions: PolicyActions): Promise<World> {
  const world = createWorld();
  world.put(policyOf({ status: { observedGeneration: 1 } }));
  await processPush(pushOf({ tag: '1.3.0', digest: digestOf('b') }), contextOf(), world.ports);
  world.put({ ...policyIn(world), actions });
  return world;
}

const jobsOf = (world: World) =>
  neededReconciles(policyIn(world), asSeenBy(policyIn(world), world.ports.cluster), {
    now: new Date(world.ports.cluster.now()),
    withNew: false,
  });

test('an old release annotation does not prevent the policy from continuing when the target is resumed', async () => {
  const world = await start({ release: '2026-01-01T00:00:00Z' });
  setWorkload(world, { web: `${image}:1.3.0` }, { paused: true });
  world.tags.set('1.3.1', digestOf('c'));
  await processPush(pushOf({ tag: '1.3.1', digest: digestOf('c') }), contextOf(), world.ports);
  setWorkload(world, { web: `${image}:1.3.0` }, { generation: 2 });
  assert.deepEqual(
    jobsOf(world).map(({ source }) => source),
    ['Request', 'TargetChange'],
  );
});

test('a requested rollback that was withdrawn or replaced before its job runs is not done', async () => {
  for (const later of [{}, { rollbackTo: '1.2.2' }] satisfies PolicyActions[]) {
    const world = await start({ rollbackTo: '1.2.3' });
    const [job] = jobsOf(world);
    assert.equal(job?.source, 'Rollback');
    world.put({ ...policyIn(world), actions: later, resourceVersion: '2' });
    await processTask(job, contextOf(), world.ports);
    assert.deepEqual([world.images(), world.statusOf('web').lastHandledRollback], [[`${image}:1.3.0`], later.rollbackTo]);
  }
});

test('a rollback of a policy that replaces a tag changes only containers that run the tag it wrote', async () => {
  const to = '1.2.3-base.20261123';
  const spec = specOf({ strategy: strategies.replace({ from: '1.2.3', to }) });
  for (const [runs, becomes] of [
    [to, '1.2.3'],
    ['1.2.4', '1.2.4'],
  ] as const) {
    const world = createWorld();
    setWorkload(world, { web: `${image}:${runs}` });
    world.tags.set(to, digestOf('c'));
    world.put(policyOf({ spec, status: { observedGeneration: 1 }, actions: { rollbackTo: '1.2.3' } }));
    const [job] = jobsOf(world);
    assert.equal(job?.source, 'Rollback');
    await processTask(job, contextOf(), world.ports);
    assert.deepEqual(world.images(), [`${image}:${becomes}`]);
  }
});
