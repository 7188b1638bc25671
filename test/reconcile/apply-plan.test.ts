import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError, WaitError } from '../../src/model/errors.ts';
import type { AppliedChange } from '../../src/plan/plan-update.ts';
import type { ReconcileRequest } from '../../src/reconcile/attempt.ts';
import { reconcilePolicy } from '../../src/reconcile/reconcile-policy.ts';
import type { Ports } from '../../src/reconcile/ports.ts';
import { policyOf, specOf } from '../model/samples.ts';
import { createWorld, image, setWorkload, type World, withPorts, type PortOverrides } from './world.ts';

const signal = new AbortController().signal;
const { namespace, name, uid } = policyOf();
const reconcile = (world: World, ports: PortOverrides = {}, request: Partial<ReconcileRequest> = {}) =>
  reconcilePolicy({ policy: { namespace, name, uid }, announced: false, ...request }, withPorts(world.ports, ports), signal);

/** Twenty Deployments with the label that the policy selects, all at 1.2.3. */
function createMany(maxParallel?: number): World {
  const world = createWorld();
  world.workloads.clear();
  for (let index = 0; index < 20; index++) {
    const named = `w${String(index).padStart(2, '0')}`;
    setWorkload(world, { web: `${image}:1.2.3` }, { name: named, uid: named, labels: { uses: 'web' } });
  }
  const targets = [{ kind: 'Deployment', namespace: 'shop', selector: { matchLabels: { uses: 'web' } } }];
  world.put(policyOf({ spec: specOf({ targets, ...(maxParallel !== undefined && { maxParallel }) }) }));
  return world;
}

const updated = (world: World) =>
  [...world.workloads.values()].filter(({ containers }) => containers[0]?.image === `${image}:1.3.0`).length;

for (const [maxParallel, expected] of [
  [3, 3],
  [undefined, 10],
  [50, 20],
] as const) {
  test(`maxParallel ${maxParallel ?? 'by default'} allows ${expected} patches at the same time`, async () => {
    const world = createMany(maxParallel);
    let [running, most] = [0, 0];
    const gate = Promise.withResolvers<void>();
    const patchImages: Ports['workloads']['patchImages'] = async (...patch) => {
      most = Math.max(most, ++running);
      if (running === expected) gate.resolve();
      await gate.promise;
      running--;
      return world.ports.workloads.patchImages(...patch);
    };
    const outcome = await reconcile(world, { workloads: { patchImages } });
    assert.deepEqual([most, updated(world), outcome.changes?.length], [expected, 20, 20]);
  });
}

test('a refusal of the API server for one workload affects only that one, and is not retried', async () => {
  const world = createMany();
  let conflicts = 1;
  const patchImages: Ports['workloads']['patchImages'] = async (workload, ...patch) => {
    world.requests.push(`TRY ${workload.name}`);
    if (workload.name === 'w07') throw new PermanentError('PatchRejected', 'w07 is refused');
    if (workload.name === 'w03' && conflicts-- > 0) return { kind: 'conflict' };
    return world.ports.workloads.patchImages(workload, ...patch);
  };
  const outcome = await reconcile(world, { workloads: { patchImages } });
  assert.deepEqual([outcome.kind, outcome.reason, outcome.message], ['stalled', 'PatchRejected', 'w07 is refused']);
  assert.deepEqual([updated(world), outcome.changes?.length], [19, 19]);
  const problems = outcome.selection?.containers.filter(({ state }) => state === 'Problem').map((problem) => problem.name);
  assert.deepEqual(problems, ['w07']);
  assert.equal(world.requests.filter((request) => request === 'TRY w07').length, 1);
});

test('a temporary error is retried only for the workloads that failed, and the results of the others are kept', async () => {
  const world = createMany();
  const broken = new Error('socket hang up');
  const later = new WaitError('Retrying', new Date(0), 'later');
  const failing = new Map<string, Error>([
    ['w02', broken],
    ['w05', later],
  ]);
  const patchImages: Ports['workloads']['patchImages'] = async (workload, ...patch) => {
    const failure = failing.get(workload.name);
    if (failure !== undefined) throw failure;
    return world.ports.workloads.patchImages(workload, ...patch);
  };
  const told: AppliedChange[] = [];
  await assert.rejects(
    reconcile(world, { workloads: { patchImages } }, { onPartlyApplied: (changes) => void told.push(...changes) }),
    later,
  );
  assert.deepEqual([updated(world), told.length], [18, 18]);
  failing.clear();
  world.requests.length = 0;
  const outcome = await reconcile(world, { workloads: { patchImages } });
  assert.deepEqual([outcome.kind, updated(world)], ['updated', 20]);
  assert.deepEqual(
    world.requests.filter((request) => request.startsWith('PATCH')),
    ['PATCH w02', 'PATCH w05'],
  );
});

test('a kind that has not been listed yet is not taken for an empty one', async () => {
  await assert.rejects(reconcile(createMany(), { cluster: { targetState: () => 'starting' } }), /kind Deployment have not been listed yet/);
});
