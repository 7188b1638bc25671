/** Custom resources are shown, compared and reported as containers are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { lacksLastChange } from '../../../src/core/plan/past.ts';
import { neededReconciles } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { isOutdated } from '../../../src/core/status/is-outdated.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, startTime, withPorts, type World } from './world.ts';

const path = 'spec.values.image.tag';
const ref = { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', namespace: 'shop', name: 'web' };
const key = 'helm.toolkit.fluxcd.io/v2/HelmRelease/shop/web';
const release = (tag: string, more: Partial<Workload> = {}): Workload => ({
  ...ref,
  uid: 'uid-of-release',
  generation: 1,
  resourceVersion: '1',
  containersPath: '/containers',
  containers: [],
  hasAnnotations: false,
  fields: { [path]: { value: tag } },
  ...more,
});
const policyIn = (world: World) => world.policies.get('shop/web') ?? assert.fail();

function createCustomWorld(): World {
  const world = createWorld();
  world.put(policyOf({ spec: specOf({ targets: [{ ...ref, fields: { tag: path } }] }) }));
  world.workloads.clear();
  world.workloads.set(key, release('1.2.3'));
  return world;
}

test('a custom resource that somebody sets within a minute of our change is shown at once', async () => {
  const world = createCustomWorld();
  await processPush(pushOf(), contextOf(), world.ports);
  for (const job of neededReconciles(policyIn(world), asSeenBy(policyIn(world), world.ports.cluster), {
    now: new Date(startTime),
    withNew: false,
  }))
    await processTask(job, contextOf(), world.ports);
  assert.equal(world.statusOf('web').running, '1.3.0');
  assert.deepEqual(
    neededReconciles(policyIn(world), asSeenBy(policyIn(world), world.ports.cluster), {
      now: new Date(startTime + 10_000),
      withNew: false,
    }),
    [],
  );
  const ours = world.workloads.get(key) ?? assert.fail();
  world.workloads.set(key, { ...ours, generation: 9, resourceVersion: '9', fields: { [path]: { value: '1.2.3' } } });
  assert.equal(
    neededReconciles(policyIn(world), asSeenBy(policyIn(world), world.ports.cluster), { now: new Date(startTime + 10_000), withNew: false })
      .length,
    1,
  );
});

test('a custom resource that somebody has changed makes an older outcome outdated', () => {
  const container = { ...ref, uid: 'uid-of-release', container: path, image: `${image}:1.3.0`, state: 'UpToDate' } as const;
  const selection = { candidate: { tag: '1.3.0' }, containers: [container] };
  const basis = { status: {}, workloads: [release('1.3.0', { resourceVersion: '5' })], selectedAt: startTime };
  const outcome = { kind: 'unchanged', reason: 'UpToDate', message: '', selection, basis } as const;
  const isOutdatedBy = (now: Workload) => isOutdated({ status: {} }, outcome, { findWorkload: () => now });
  assert.equal(isOutdatedBy(release('1.2.3', { resourceVersion: '9' })), true);
  assert.equal(isOutdatedBy(release('1.3.0', { resourceVersion: '9' })), false);
  assert.equal(isOutdatedBy(release('1.2.3', { resourceVersion: '4' })), false);
});

test('a cache that shows a custom resource as before our change is older than the status', () => {
  const { uid } = release('');
  const change = { container: path, from: `${image}:1.2.3`, to: `${image}:1.3.0`, tag: '1.3.0' };
  const entry = { ...ref, uid, ...change, trigger: 'Webhook', at: '2026-03-01T12:00:00Z', result: 'Applied' } as const;
  assert.equal(lacksLastChange([entry], release('1.2.3')), true);
  assert.equal(lacksLastChange([{ ...entry, uid: 'former' }], release('1.2.3')), false);
});

test('a change of a custom resource whose status was not written is in the history once, as it was made', async () => {
  const world = createCustomWorld();
  const failing = withPorts(world.ports, { policies: { writeStatus: () => Promise.reject(new Error('500')) } });
  await assert.rejects(processPush(pushOf(), contextOf(), failing));
  const at = startTime + 60_000;
  const { namespace, name, uid } = policyIn(world);
  const poll = {
    schema: 1,
    policy: { namespace, name, uid },
    source: 'Poll',
    cause: 'poll',
    receivedAt: new Date(at).toISOString(),
  } as const;
  await processTask(poll, contextOf(), withPorts(world.ports, { cluster: { now: () => at } }));
  assert.deepEqual(
    world.statusOf('web').history?.map(({ from, to, trigger }) => [from, to, trigger]),
    [[`${image}:1.2.3`, `${image}:1.3.0`, 'Webhook']],
  );
});
