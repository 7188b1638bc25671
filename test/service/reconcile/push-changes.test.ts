/** A push is recorded with what it changed, whichever of its tries lived to report it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pastChanges, withUpdates } from '../../../src/core/model/last-update.ts';
import { formatLastUpdate, parseLastUpdate } from '../../../src/core/model/last-update-annotation.ts';
import { policyKey } from '../../../src/core/model/image-policy.ts';
import { pushChanges } from '../../../src/core/plan/push-changes.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf, policyOf, specOf, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, withPorts, type World } from './world.ts';

const recordOf = ({ results }: World, id = 'push-1') => {
  const { kind, reason, changes = [] } = results.get(`${id} shop/web`) ?? {};
  return { kind, reason, changes: changes.map(({ container, from, to }) => `${container} ${from} ${to}`) };
};
const to = (tag: string, from = '1.2.3', container = 'web') => `${container} ${image}:${from} ${image}:${tag}`;
const never = new Promise<void>(() => undefined);

/** Brings a push as far as the change; then the worker dies, before it reports anything. */
async function changeAndDie(world: World, push = pushOf()): Promise<void> {
  const { promise: isReporting, resolve } = Promise.withResolvers<void>();
  const untilPatched = () => {
    resolve();
    return never;
  };
  void processPush(push, contextOf(), withPorts(world.ports, { report: { untilPatched } }));
  await isReporting;
}

test('a change whose worker died before its report is reported by the retry of the push', async () => {
  const world = createWorld();
  await changeAndDie(world);
  assert.deepEqual([world.images(), world.results.size], [[`${image}:1.3.0`], 0]);
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(recordOf(world), { kind: 'updated', reason: 'Updated', changes: [to('1.3.0')] });
  // The time of the change, two seconds after the push; both from clocks of ours.
  assert.equal(world.results.get('push-1 shop/web')?.afterMs, 2_000);
});

test('a change whose worker died is reported even if the policy was suspended or the image was changed since', async () => {
  const suspended = createWorld();
  await changeAndDie(suspended);
  suspended.put(policyOf({ spec: specOf({ suspended: true }) }));
  await processPush(pushOf(), contextOf(), suspended.ports);
  assert.equal(recordOf(suspended).kind, 'updated');
  const edited = createWorld();
  await changeAndDie(edited);
  const [workload] = edited.workloads.values();
  const [container] = workload?.containers ?? [];
  if (workload === undefined || container === undefined) throw new Error('no container');
  const containers = [{ ...container, image: `${image}:1.2.3`, imageOwner: 'kubectl' }];
  edited.workloads.set('Deployment/shop/web', { ...workload, containers });
  await processPush(pushOf(), contextOf(), edited.ports);
  assert.deepEqual(recordOf(edited), { kind: 'updated', reason: 'Updated', changes: [to('1.3.0')] });
});

test('a change whose worker died is reported even by a worker whose watch has not seen the change', async () => {
  const world = createWorld();
  const [before] = world.workloads.values();
  await changeAndDie(world);
  world.put(policyOf({ spec: specOf({ suspended: true }) }));
  const lagging = withPorts(world.ports, { cluster: { findWorkload: () => before } });
  await processPush(pushOf(), contextOf({ wasLost: true }), lagging);
  assert.deepEqual(recordOf(world), { kind: 'updated', reason: 'Updated', changes: [to('1.3.0')] });
});

test('a later push that changes the image again does not hide the change of an earlier one', async () => {
  const world = createWorld();
  await changeAndDie(world);
  world.tags.set('1.4.0', digestOf('c'));
  await processPush(pushOf({ id: 'push-2', tag: '1.4.0', digest: digestOf('c') }), contextOf(), world.ports);
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(recordOf(world, 'push-2').changes, [to('1.4.0', '1.3.0')]);
  assert.deepEqual(recordOf(world), { kind: 'updated', reason: 'Updated', changes: [to('1.3.0')] });
  assert.equal(world.results.get('push-1 shop/web')?.tag, '1.3.0');
});

test('a push whose changes took several attempts is recorded with all of them', async () => {
  const world = createWorld();
  await changeAndDie(world);
  const [changed] = world.workloads.values();
  setWorkload(world, { web: `${image}:1.2.3` }, { name: 'more', uid: 'more', hasAnnotations: true });
  assert.ok(changed !== undefined);
  const targets = ['web', 'more'].map((name) => ({ kind: 'Deployment', namespace: 'shop', name }));
  world.put(policyOf({ spec: specOf({ targets }) }));
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual(recordOf(world).changes, [to('1.3.0'), to('1.3.0')]);
});

test('a change that its own push could not report is recorded with that push by the next push', async () => {
  const world = createWorld();
  await changeAndDie(world);
  world.tags.set('1.4.0', digestOf('c'));
  await processPush(pushOf({ id: 'push-2', tag: '1.4.0', digest: digestOf('c') }), contextOf(), world.ports);
  assert.deepEqual(recordOf(world), { kind: 'updated', reason: 'Updated', changes: [to('1.3.0')] });
  assert.deepEqual(recordOf(world, 'push-2').changes, [to('1.4.0', '1.3.0')]);
});

test('the changes of an attempt that failed are in the record of the push', async () => {
  const world = createWorld();
  const targets = ['web', 'more'].map((name) => ({ kind: 'Deployment', namespace: 'shop', name }));
  setWorkload(world, { web: `${image}:1.2.3` }, { name: 'more', uid: 'more', hasAnnotations: true });
  world.put(policyOf({ spec: specOf({ targets }) }));
  const { patchImages } = world.ports.workloads;
  const failing = withPorts(world.ports, {
    workloads: { patchImages: async (...args) => (args[0].name === 'more' ? Promise.reject(new Error('503')) : patchImages(...args)) },
  });
  await assert.rejects(processPush(pushOf(), contextOf(), failing));
  const { kind, changes } = recordOf(world);
  assert.deepEqual([kind, changes], ['retrying', [to('1.3.0')]]);
});

test('a push that changed nothing is not recorded with the changes of other pushes', async () => {
  const world = createWorld();
  await processPush(pushOf({ id: 'push-2' }), contextOf(), world.ports);
  await processPush(pushOf(), contextOf(), world.ports);
  assert.deepEqual([recordOf(world).kind, recordOf(world).changes], ['unchanged', []]);
});

test('a change that a retry reports is not counted again, and has no second Event', async () => {
  const world = createWorld();
  const failing = withPorts(world.ports, { policies: { writeStatus: () => Promise.reject(new Error('500')) } });
  await assert.rejects(processPush(pushOf(), contextOf(), failing));
  await processPush(pushOf(), contextOf({ failures: 1 }), world.ports);
  assert.equal(world.events.filter(({ regarding: { kind } }) => kind === 'Deployment').length, 1);
  const counted = await world.ports.report.metrics.changes.get();
  assert.deepEqual(
    counted.values.map(({ value }) => value),
    [1],
  );
  assert.equal(world.statusOf('web').history?.[0]?.to, `${image}:1.3.0`);
});

test('the record on a workload keeps the last changes, and forged entries are not read', () => {
  let workload = workloadOf({ web: `${image}:1.0.0` });
  const at = (index: number) => new Date(startTime + index * 60_000);
  for (let index = 0; index < 8; index++) {
    const change = { container: 'web', index: 0, from: `${image}:1.${index}.0`, to: `${image}:1.${index + 1}.0` };
    const [made] = withUpdates(workload, [change], { policy: 'uid', trigger: 'Webhook', at: at(index), event: `push-${index}` });
    const lastUpdate = parseLastUpdate(made?.update && formatLastUpdate(made.update));
    assert.deepEqual(lastUpdate, made?.update);
    workload = workloadOf({ web: change.to });
    workload = { ...workload, containers: workload.containers.map((one) => ({ ...one, ...(lastUpdate && { lastUpdate }) })) };
  }
  const last = workload.containers[0]?.lastUpdate;
  assert.deepEqual(
    pastChanges(last).map(({ event }) => event),
    ['push-7', 'push-6', 'push-5', 'push-4', 'push-3', 'push-2', 'push-1'],
  );
  assert.ok(last !== undefined);
  const forged = { ...last, event: 'a b', before: [{ ...last, event: '\u001b[31m' }, { event: 'push-1' }, null] };
  assert.deepEqual(
    pastChanges(parseLastUpdate(JSON.stringify(forged))).map(({ event }) => event),
    [undefined, undefined],
  );
  const shown = { ...last, policy: 'policy-uid', event: 'push-1', to: 'web:\u001b[31m', before: [] };
  const world = createWorld();
  const policy = policyOf();
  const [container] = workload.containers;
  const views = {
    ...workload,
    containers: container === undefined ? [] : [{ ...container, lastUpdate: { ...shown, policy: policy.uid } }],
  };
  world.workloads.set(policyKey(policy), views);
  assert.deepEqual(pushChanges(policy, 'push-1', { findWorkload: () => views, listWorkloads: () => [views] }), []);
});
