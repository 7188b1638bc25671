/** Policies with more containers than their status lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import { maxTargetsListed } from '../../../src/core/model/policy-status.ts';
import type { PolicyTarget } from '../../../src/core/model/image-policy.ts';
import { hashOfTargets } from '../../../src/core/plan/unlisted-targets.ts';
import { changedTargetsJob, neededReconciles } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { policyOf, specOf, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, startTime, withPorts, type World } from './world.ts';

const target: PolicyTarget = { kind: 'Deployment', namespace: 'shop', selector: { matchLabels: { uses: 'web' } } };
const nameAt = (index: number) => `w${String(index).padStart(2, '0')}`;
const policyIn = (world: World) => world.policies.get('shop/web') ?? assert.fail();
const jobsAt = (world: World, now: Date, withNew = false) => [
  ...neededReconciles(policyIn(world), asSeenBy(policyIn(world), world.ports.cluster), { now, withNew: false }),
  ...[
    withNew ? changedTargetsJob(policyIn(world), asSeenBy(policyIn(world), world.ports.cluster), { now, withNew: true }) : undefined,
  ].filter((job) => job !== undefined),
];

function addDeployment(world: World, name: string): void {
  const workload = workloadOf({ web: `${image}:1.2.3` }, { name, uid: `uid-${name}`, labels: { uses: 'web' } });
  world.workloads.set(`Deployment/shop/${name}`, workload);
}

/** So many Deployments run 1.3.0, and the status says so. */
async function updated(count: number): Promise<World> {
  const world = createWorld();
  world.put(policyOf({ spec: specOf({ targets: [target] }) }));
  world.workloads.clear();
  for (let index = 0; index < count; index++) addDeployment(world, nameAt(index));
  await processPush(pushOf(), contextOf(), world.ports);
  for (const job of jobsAt(world, new Date(startTime))) await processTask(job, contextOf(), world.ports);
  const { running, targetCounts } = world.statusOf('web');
  assert.deepEqual([running, targetCounts?.upToDate], ['1.3.0', count]);
  return world;
}

function setByHand(world: World, name: string, now: Date): void {
  const key = `Deployment/shop/${name}`;
  const found = world.workloads.get(key) ?? assert.fail();
  const containers = found.containers.map((one) => ({
    ...one,
    image: `${image}:1.2.3`,
    imageOwner: 'kubectl-set',
    imageSetAt: now.toISOString(),
  }));
  world.workloads.set(key, { ...found, generation: 9, resourceVersion: '99', containers });
}

const later = new Date(startTime + 600_000);

for (const count of [maxTargetsListed, maxTargetsListed + 1, 50]) {
  test(`a manual change of the last of ${count} targets is shown at once`, async () => {
    const world = await updated(count);
    assert.deepEqual(jobsAt(world, later, true), []);
    setByHand(world, nameAt(count - 1), later);
    const [job, ...others] = jobsAt(world, later);
    assert.ok(job);
    assert.deepEqual(others, []);
    const now = withPorts(world.ports, { cluster: { now: () => later.getTime() } });
    await processTask(job, contextOf(), now);
    const { running, targetCounts } = world.statusOf('web');
    assert.deepEqual([running, targetCounts?.upToDate], ['1.3.0,+1', count - 1]);
    assert.equal(
      changedTargetsJob(policyIn(world), asSeenBy(policyIn(world), world.ports.cluster), { now: later, withNew: true }),
      undefined,
    );
  });
}

test('new workloads of a list that is longer than the status are found by one comparison', async () => {
  const world = await updated(30);
  addDeployment(world, 'x');
  assert.deepEqual(jobsAt(world, later), []);
  assert.equal(jobsAt(world, later, true).length, 1);
});

test('the hash of targets depends on their containers and images in any order, and on nothing else', () => {
  const [a, b] = ['a', 'b'].map((name) => ({
    kind: 'Deployment',
    namespace: 'shop',
    name,
    uid: name,
    container: 'web',
    image: `${image}:1`,
  }));
  assert.ok(a && b);
  assert.equal(hashOfTargets([a, b]), hashOfTargets([b, { ...a, tag: '1' }]));
  for (const other of [[a], [a, { ...b, image: `${image}:2` }], [a, { ...b, uid: 'c' }]])
    assert.notEqual(hashOfTargets(other), hashOfTargets([a, b]));
  assert.equal(hashOfTargets([]), undefined);
});
