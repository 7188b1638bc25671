/** Two policies that select different images for the same containers: what each of them writes is counted by container, where it lasts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { Workload, WorkloadRef } from '../../../src/core/model/workload.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, policyOf, specOf, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, startTime, neededReconcile, type World, withPorts } from './world.ts';

const names = ['one', 'two', 'three'];
const targetOf = (name: string, more: Partial<WorkloadRef> = {}): WorkloadRef => ({ kind: 'Deployment', namespace: 'shop', name, ...more });

/** Policies shop/newer and shop/older with the same targets, and a clock that each request moves by a second. */
function fight({
  targets = names.map((name) => targetOf(name)),
  workload = {},
}: { targets?: WorkloadRef[]; workload?: Partial<Workload> } = {}) {
  let at = startTime;
  let requests = 0;
  const world = createWorld({ cluster: { now: () => at } });
  world.policies.clear();
  for (const target of targets) {
    const found = workloadOf({ web: `${image}:1.2.3` }, { ...target, uid: `uid-of-${target.name}`, ...workload });
    world.workloads.set(`${target.kind}/shop/${target.name}`, found);
  }
  for (const [name, range] of [
    ['newer', '1.3.x'],
    ['older', '1.2.x'],
  ] as const) {
    const spec = specOf({ strategy: strategies.semver({ range }), allowDowngrade: true, targets });
    world.put(policyOf({ name, spec, status: { observedGeneration: 1 } }));
  }
  /** Lets a policy be looked at now. */
  const look = async (name: string, ports: World['ports'] = world.ports) => {
    at += 1_000;
    const policy = world.policies.get(`shop/${name}`);
    assert.ok(policy);
    world.put({ ...policy, actions: { ...policy.actions, requestedAt: `${++requests}` } });
    const job = neededReconcile(world.policies.get(`shop/${name}`) ?? policy, world.ports.cluster, new Date(world.ports.cluster.now()));
    assert.ok(job);
    await processTask(job, contextOf(), ports);
  };
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round++) for (const name of ['newer', 'older']) await look(name);
  };
  const patches = () => world.requests.filter((request) => request.startsWith('PATCH')).length;
  const reasonsOf = (name: string) => world.statusOf(name).conditions?.map(({ type, reason }) => `${type} ${reason}`);
  const pass = (ms: number) => void (at += ms);
  return { world, look, rounds, patches, reasonsOf, pass };
}

test('two policies that fight over three targets stop at the limit for each container, and start no second fight within the hour', async () => {
  const { world, look, rounds, patches, reasonsOf, pass } = fight();
  await rounds(12);
  // Five changes of each policy for each target.
  assert.equal(patches(), 2 * 3 * 5);
  assert.deepEqual(reasonsOf('newer'), ['Ready TooManyChanges', 'Reconciling TooManyChanges']);
  assert.equal(world.statusOf('newer').waiting?.reason, 'TooManyChanges');
  assert.equal(world.statusOf('newer').waiting?.until, '2026-03-01T13:00:01Z');
  await rounds(12);
  assert.equal(patches(), 2 * 3 * 5);
  pass(3_600_000 - 48_000);
  await look('newer');
  assert.equal(patches(), 2 * 3 * 5 + 3, 'the first change of each container is an hour old');
});

test('a crash between the patch and the status does not hide a change from the limit of repeated changes', async () => {
  const { world, look, patches } = fight();
  const killed = withPorts(world.ports, { policies: { writeStatus: () => Promise.reject(new Error('killed')) } });
  for (let round = 0; round < 8; round++) {
    for (const name of ['newer', 'older']) await look(name, killed).catch(() => undefined);
  }
  assert.deepEqual([world.statusOf('newer').history, patches()], [undefined, 2 * 3 * 5]);
});

test('changes of kinds without rollouts count towards the limit of repeated changes as well', async () => {
  const { rounds, patches } = fight({
    targets: names.map((name) => targetOf(name, { kind: 'CronJob' })),
    workload: { apiVersion: 'batch/v1' },
  });
  await rounds(8);
  assert.equal(patches(), 2 * 3 * 5);
});

test('changes to new images do not count as a loop, however often they arrive and whoever else changes the container', async () => {
  const { world, look, patches } = fight({ targets: [targetOf('one')] });
  for (let patch = 0; patch < 20; patch++) {
    world.tags.set(`1.3.${patch + 1}`, digestOf((patch % 10).toString()));
    await look('newer');
  }
  assert.equal(patches(), 20);
  assert.equal(world.workloads.get('Deployment/shop/one')?.containers[0]?.image, `${image}:1.3.20`);
});

test('a fight of policies over one container does not delay another container of the workload', async () => {
  const { world, rounds, look } = fight({ targets: [targetOf('one')] });
  const both = workloadOf({ web: `${image}:1.2.3`, side: `${image}:1.3.0` }, targetOf('one'));
  world.workloads.set('Deployment/shop/one', both);
  const older = world.policies.get('shop/older');
  assert.ok(older);
  world.put({ ...older, spec: specOf({ ...older.spec, targets: [{ ...targetOf('one'), containers: ['web'] }] }) });
  await rounds(8);
  const before = world.workloads.get('Deployment/shop/one');
  assert.ok(before);
  world.workloads.set('Deployment/shop/one', {
    ...before,
    containers: before.containers.map((one) => (one.name === 'side' ? { name: 'side', image: `${image}:1.2.0` } : one)),
  });
  await look('newer');
  assert.deepEqual(
    world.workloads.get('Deployment/shop/one')?.containers.map(({ image: runs }) => runs),
    [`${image}:1.2.3`, `${image}:1.3.0`],
  );
});
