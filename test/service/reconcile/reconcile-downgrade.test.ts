/** update.allowDowngrade: what is selected is the best of all tags, and a push of an older one is still only a hint. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import type { Ports } from '../../../src/service/reconcile/ports.ts';
import type { ReconcileRequest } from '../../../src/service/reconcile/attempt.ts';
import { digestOf, latestSpec, policyOf, specOf } from '../../core/model/samples.ts';
import { createWorld, image, setWorkload, type World, withPorts, type PortOverrides } from './world.ts';

const signal = new AbortController().signal;
const { namespace, name, uid } = policyOf();

function start(): World {
  const world = createWorld();
  world.put(policyOf({ spec: specOf({ allowDowngrade: true }) }));
  setWorkload(world, { web: `${image}:1.3.0` });
  return world;
}

const reconcile = (world: World, request: Partial<ReconcileRequest> = {}, ports: PortOverrides = {}) =>
  reconcilePolicy({ policy: { namespace, name, uid }, announced: false, ...request }, withPorts(world.ports, ports), signal);

test('with allowDowngrade the image is downgraded when the best of all tags is an older one', async () => {
  const world = start();
  world.tags.delete('1.3.0');
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.kind, outcome.tag, world.images()], ['updated', '1.2.3', [`${image}:1.2.3`]]);
});

test('with allowDowngrade the image is not downgraded by another push of an older tag', async () => {
  const world = start();
  const outcome = await reconcile(world, { hint: { tag: '1.2.3', digest: digestOf('a') }, announced: true });
  assert.deepEqual([outcome.kind, outcome.tag, world.images()], ['unchanged', '1.3.0', [`${image}:1.3.0`]]);
});

test('with allowDowngrade the image is updated to an announced tag that the registry does not list yet', async () => {
  const world = start();
  const hint = { tag: '1.4.0', digest: digestOf('f') };
  const outcome = await reconcile(
    world,
    { hint, announced: true },
    { registry: { headManifest: async () => ({ digest: digestOf('f') }) } },
  );
  assert.deepEqual([outcome.kind, world.images()], ['updated', [`${image}:1.4.0`]]);
});

test('with allowDowngrade the registry is asked again if somebody else has changed the image since', async () => {
  const world = start();
  world.tags.delete('1.3.0');
  let conflicts = 1;
  const patchImages: Ports['workloads']['patchImages'] = async (...patch) => {
    if (conflicts-- <= 0) return world.ports.workloads.patchImages(...patch);
    world.tags.set('1.5.0', digestOf('e'));
    setWorkload(world, { web: `${image}:1.5.0` });
    return { kind: 'conflict' };
  };
  const outcome = await reconcile(world, {}, { workloads: { patchImages } });
  assert.deepEqual([outcome.kind, outcome.tag, world.images()], ['unchanged', '1.5.0', [`${image}:1.5.0`]]);
});

test('with allowDowngrade simultaneous pushes lead to the highest version, whichever answer arrives first', async () => {
  const world = start();
  const versions = ['1.5.0', '1.10.0', '1.4.0'];
  for (const version of versions) world.tags.set(version, digestOf('f'));
  await Promise.all(versions.map((tag) => reconcile(world, { hint: { tag }, announced: true })));
  assert.deepEqual(world.images(), [`${image}:1.10.0`]);
});

test('with allowDowngrade a mutable tag needs no list of tags', async () => {
  const world = start();
  world.put(policyOf({ spec: latestSpec({ allowDowngrade: true }) }));
  world.tags.set('latest', digestOf('d'));
  await reconcile(world, { hint: { tag: 'latest' } });
  assert.deepEqual(world.requests, ['HEAD latest', 'PATCH web']);
});
