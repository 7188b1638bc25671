import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError, WaitError } from '../../../src/core/model/errors.ts';
import type { AppliedChange } from '../../../src/core/plan/plan-update.ts';
import type { ReconcileRequest } from '../../../src/service/reconcile/attempt.ts';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import type { Ports } from '../../../src/service/reconcile/ports.ts';
import { workloadKey, type Workload } from '../../../src/core/model/workload.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';
import { rolledOut, rolloutOf } from '../../core/rollout/rollout-samples.ts';
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
  test(`maxParallel ${maxParallel ?? 'by default'} allows ${expected} simultaneous patches`, async () => {
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

test('a patch that the API server refuses fails only its own workload, and is not retried', async () => {
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

test('a temporary error is retried only for the workloads that failed, and the changes of the others are kept', async () => {
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

test('a kind that has not been listed yet does not count as a kind without workloads', async () => {
  await assert.rejects(reconcile(createMany(), { cluster: { targetState: () => 'starting' } }), /kind Deployment have not been listed yet/);
});

/** Twenty Deployments that are changed in waves of five; `refused` says which changes the API server refuses. */
function createWaves(maxFailures: number, refused: (name: string) => boolean, more: Partial<Workload> = {}) {
  const world = createMany();
  const targets = [{ kind: 'Deployment', namespace: more.namespace ?? 'shop', selector: { matchLabels: { uses: 'web' } } }];
  const waves = { maxParallel: 5, pauseMs: 0, maxFailures };
  world.put(policyOf({ spec: specOf({ targets, rollout: { timeoutMs: 600_000, onFailure: 'Rollback', waves } }) }));
  const listed = [...world.workloads.values()];
  world.workloads.clear();
  for (const workload of listed) {
    const moved = { ...workload, rollout: rolloutOf(), ...more };
    world.workloads.set(workloadKey(moved), moved);
  }
  const tried: string[] = [];
  const patchImages: Ports['workloads']['patchImages'] = async (workload, ...patch) => {
    tried.push(workload.name);
    if (refused(workload.name)) throw new PermanentError('PatchRejected', `${workload.name} is refused`);
    return world.ports.workloads.patchImages(workload, ...patch);
  };
  return { world, tried, reconcile: () => reconcile(world, { workloads: { patchImages } }) };
}

test('a workload whose patch is refused leaves its place in the wave to another, and counts as a failure', async () => {
  const { world, tried, reconcile } = createWaves(2, (name) => name === 'w00');
  const outcome = await reconcile();
  assert.deepEqual(tried, ['w00', 'w01', 'w02', 'w03', 'w04', 'w05']);
  assert.deepEqual([outcome.kind, outcome.reason, outcome.message], ['stalled', 'PatchRejected', 'w00 is refused']);
  assert.deepEqual([updated(world), outcome.changes?.length, outcome.pending?.next?.reason], [5, 5, 'WavePending']);
  tried.length = 0;
  await reconcile();
  assert.deepEqual(tried, [], 'until the wave has rolled out nothing is tried');
  for (const [key, workload] of world.workloads) world.workloads.set(key, { ...workload, rollout: rolledOut });
  await reconcile();
  assert.deepEqual(tried, ['w00', 'w06', 'w07', 'w08', 'w09', 'w10']);
});

test('after maxFailures refused patches no other workload is changed, by no later reconcile either', async () => {
  const { world, tried, reconcile } = createWaves(1, (name) => name === 'w00');
  for (let turn = 0; turn < 3; turn++) {
    const { kind, reason, pending } = await reconcile();
    assert.deepEqual([kind, reason, pending?.next], ['stalled', 'PatchRejected', undefined]);
  }
  assert.deepEqual([tried, updated(world)], [['w00', 'w00', 'w00'], 0]);
});

test('if every patch is refused, no more than maxFailures are tried, and the policy says why', async () => {
  const { tried, reconcile } = createWaves(3, () => true);
  const { kind, reason, selection } = await reconcile();
  assert.deepEqual([tried, kind, reason], [['w00', 'w01', 'w02'], 'stalled', 'PatchRejected']);
  const last = selection?.containers.find(({ name }) => name === 'w19')?.message;
  assert.equal(last, '1.3.0 is not rolled out further: the API server refused 3 of 20 changes. Mend that, or push a better image');
});

test('the consent of a workload is read before it takes the place of a refused one', async () => {
  const { world, tried, reconcile } = createWaves(2, (name) => name === 'w00', { namespace: 'other' });
  world.namespaces.set('other', 'shop');
  const outcome = await reconcile();
  assert.deepEqual([outcome.kind, updated(world), tried.length], ['stalled', 5, 6]);
  assert.ok(world.requests.includes('GET w05'), 'its own annotation was read');
});
