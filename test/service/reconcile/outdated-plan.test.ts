/** What a plan was made from changes before its patch is sent, or between two tries of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReconcileRequest } from '../../../src/service/reconcile/attempt.ts';
import type { Ports } from '../../../src/service/reconcile/ports.ts';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import { digestOf, latestSpec, policyOf, specOf, webDeployment, workloadOf } from '../../core/model/samples.ts';
import { createWorld, image, setWorkload, withPorts, type PortOverrides, type World } from './world.ts';

const { namespace, name, uid } = policyOf();
const hint = { tag: '1.3.0', digest: digestOf('b') };

function reconcile(world: World, request: Partial<ReconcileRequest> = {}, ports: PortOverrides = {}) {
  const { signal } = new AbortController();
  return reconcilePolicy({ policy: { namespace, name, uid }, announced: false, ...request }, withPorts(world.ports, ports), signal);
}

/** Changes something just before the first try of the patch. */
function beforePatch(world: World, change: () => void): PortOverrides {
  const patchImages: Ports['workloads']['patchImages'] = (...patch) => {
    change();
    return world.ports.workloads.patchImages(...patch);
  };
  return { workloads: { patchImages } };
}

test('an approval that is withdrawn before the patch is sent does not count, and the registry is not asked again', async () => {
  const world = createWorld();
  const spec = specOf({ mode: 'Approval' });
  world.put(policyOf({ spec, actions: { approve: `1.3.0@${hint.digest}` } }));
  const outcome = await reconcile(
    world,
    { hint },
    beforePatch(world, () => world.put(policyOf({ spec }))),
  );
  assert.equal(outcome.blocked?.[0]?.reason, 'ApprovalRequired');
  assert.deepEqual(world.requests, ['HEAD 1.3.0']);
});

test('an image that is rejected before the patch is sent is not applied', async () => {
  const world = createWorld();
  const rejected = [{ digest: hint.digest, tag: '1.3.0', reason: 'RolledBack', at: '2026-03-01T11:00:00Z' }];
  await reconcile(
    world,
    { hint },
    beforePatch(world, () => world.put(policyOf({ status: { rejected } }))),
  );
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('a status write that decides nothing does not stop the patch', async () => {
  const world = createWorld();
  let tries = 0;
  const report = () => {
    tries++;
    world.put(policyOf({ status: { running: '1.2.3', lastCheckTime: '2026-03-01T11:00:00Z' } }));
  };
  await reconcile(world, { hint }, beforePatch(world, report));
  assert.deepEqual([world.images(), tries], [[`${image}:1.3.0`], 1]);
});

test('a rollback that is withdrawn while the registry is asked changes nothing', async () => {
  const world = createWorld();
  setWorkload(world, { web: `${image}:1.3.0` });
  world.put(policyOf({ actions: { rollbackTo: '1.2.3' } }));
  const outcome = await reconcile(
    world,
    { rollbackTo: '1.2.3' },
    {
      registry: {
        async headManifest() {
          world.put(policyOf());
          return { digest: digestOf('a') };
        },
      },
    },
  );
  assert.deepEqual([outcome.kind, outcome.reason], ['ignored', 'Withdrawn']);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('each retry of a patch reads the consent of the Namespace again', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: specOf({ targets: [{ ...webDeployment, namespace: 'other' }] }) }));
  const target = { ...workloadOf({ web: `${image}:1.2.3` }), namespace: 'other' };
  world.workloads.set('Deployment/other/web', target);
  world.namespaces.set('other', namespace);
  let reads = 0;
  const confirmed: boolean[] = [];
  const outcome = await reconcile(
    world,
    { hint },
    {
      workloads: {
        async readConsent(of) {
          reads++;
          return world.namespaces.get(of) ?? null;
        },
        async patchImages(...patch) {
          const [, , { confirm }] = patch;
          confirmed.push((await confirm()) !== undefined);
          assert.equal(reads, 1);
          // The API server answers 429 meanwhile.
          world.namespaces.delete('other');
          confirmed.push((await confirm()) !== undefined);
          assert.equal(reads, 2);
          return { kind: 'outdated' };
        },
      },
    },
  );
  assert.deepEqual(confirmed, [true, false]);
  assert.deepEqual([outcome.kind, outcome.reason], ['stalled', 'NoConsent']);
});

test('many policies that change one workload at the same time succeed one after the other', async () => {
  const world = createWorld();
  let others = 12;
  const patchImages: Ports['workloads']['patchImages'] = async (...patch) => {
    if (others-- <= 0) return world.ports.workloads.patchImages(...patch);
    const [workload] = patch;
    world.workloads.set('Deployment/shop/web', { ...workload, resourceVersion: `${Number(workload.resourceVersion) + 1}` });
    return { kind: 'conflict' };
  };
  await reconcile(world, { hint }, { workloads: { patchImages } });
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('a process that was suspended before the patch asks the registry again', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: latestSpec() }));
  setWorkload(world, { web: `${image}:latest@${digestOf('a')}` });
  world.tags.set('latest', digestOf('b'));
  let now = world.ports.cluster.now();
  const standsStill = beforePatch(world, () => {
    if (world.requests.length > 1) return;
    now += 60_000;
    world.tags.set('latest', digestOf('c'));
  });
  await reconcile(world, { hint: { tag: 'latest' } }, { ...standsStill, cluster: { now: () => now } });
  assert.deepEqual([world.requests, world.images()], [['HEAD latest', 'HEAD latest', 'PATCH web'], [`${image}:latest@${digestOf('c')}`]]);
});
