/** Targets that somebody changes: the status says at once what runs, and the registry is asked only where something is to be changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import { changedTargetsJob, neededReconciles } from '../../../src/service/reconcile/enqueue/needs-reconcile.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { digestOf, policyOf, specOf, stalledStatus, thisDeployment, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, withPorts, type World } from './world.ts';

const now = new Date(startTime);
const jobsOf = (world: World) => {
  const policy = world.policies.get('shop/web');
  assert.ok(policy);
  return neededReconciles(policy, asSeenBy(policy, world.ports.cluster), { now, withNew: false });
};
/** Runs what the caches cause, until that is nothing; returns the number of jobs. */
async function settle(world: World): Promise<number> {
  const done = new Set<string>();
  for (let jobs = jobsOf(world); jobs.length > 0; jobs = jobsOf(world)) {
    const [job] = jobs.filter(({ cause }) => !done.has(cause));
    if (job === undefined) break;
    done.add(job.cause);
    await processTask(job, contextOf(), world.ports);
  }
  return done.size;
}
const state = (world: World) => {
  const { running, conditions = [], targets = [] } = world.statusOf('web');
  const ready = conditions.find(({ type }) => type === 'Ready');
  return { running, ready: ready?.status, reason: ready?.reason, images: targets.map((target) => target.image) };
};
/** Policy shop/web has applied 1.3.0, and says so. */
async function applied(overrides: Parameters<typeof createWorld>[0] = {}): Promise<World> {
  const world = createWorld(overrides);
  await processPush(pushOf(), contextOf(), world.ports);
  await settle(world);
  assert.deepEqual(state(world), { running: '1.3.0', ready: 'True', reason: 'UpToDate', images: [`${image}:1.3.0`] });
  world.requests.length = 0;
  return world;
}
/** Somebody sets the image; our record on the workload stays. */
function setByHand(world: World, tag: string): void {
  const lastUpdate = world.workloads.get('Deployment/shop/web')?.containers[0]?.lastUpdate;
  const web = { image: `${image}:${tag}`, imageOwner: 'kubectl-set', imageSetAt: now.toISOString(), ...(lastUpdate && { lastUpdate }) };
  setWorkload(world, { web }, { generation: 3 });
}

test('an older image that is set by hand is shown at once as the reason of Held, without asking the registry', async () => {
  const world = await applied();
  setByHand(world, '1.2.3');
  await processTask(jobsOf(world)[0] ?? assert.fail('no job'), contextOf(), world.ports);
  const { running, reason, images } = state(world);
  assert.deepEqual([running, reason, images, world.requests], ['1.2.3', 'Held', [`${image}:1.2.3`], []]);
});

test('an image that somebody sets under our field manager is detected at once, because the record does not match', async () => {
  const world = await applied();
  const record = world.workloads.get('Deployment/shop/web')?.containers[0]?.lastUpdate;
  assert.ok(record);
  const web = { image: `${image}:1.2.3`, imageOwner: 'image-watcher', imageSetAt: now.toISOString(), lastUpdate: record };
  setWorkload(world, { web }, { generation: 3 });
  await settle(world);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

for (const [whose, failures] of [
  ['of the same job', 6],
  ['of a worker that was taken for dead', 0],
] as const) {
  test(`the status that a failed reconcile ${whose} has written is cleared by the next try`, async () => {
    const world = await applied();
    setByHand(world, '1.4.0');
    const [job] = jobsOf(world);
    assert.ok(job);
    const failing = withPorts(world.ports, { workloads: { awaitTargets: () => Promise.reject(new Error('the connection broke')) } });
    await assert.rejects(processTask(job, contextOf({ failures: 5 }), failing));
    assert.deepEqual(state(world).reason, 'Retrying');
    await processTask(job, contextOf({ failures }), world.ports);
    assert.deepEqual(state(world), { running: '1.4.0', ready: 'True', reason: 'UpToDate', images: [`${image}:1.4.0`] });
  });
}

test('a newer image that is set by hand is shown at once', async () => {
  const world = await applied();
  setByHand(world, '1.4.0');
  await processTask(jobsOf(world)[0] ?? assert.fail('no job'), contextOf(), world.ports);
  assert.deepEqual(state(world), { running: '1.4.0', ready: 'True', reason: 'UpToDate', images: [`${image}:1.4.0`] });
  assert.deepEqual([world.requests, jobsOf(world)], [[], []]);
});

test('a workload that is deleted makes a Ready policy Stalled at once', async () => {
  const world = await applied();
  world.workloads.clear();
  await processTask(jobsOf(world)[0] ?? assert.fail('no job'), contextOf(), world.ports);
  const { running, ready, reason } = state(world);
  assert.deepEqual([running, ready, reason, world.requests], ['<none>', 'False', 'TargetNotFound', []]);
});

test('a container that is renamed, added or removed is shown in the status', async () => {
  const world = await applied();
  setWorkload(world, { renamed: `${image}:1.3.0`, sidecar: `${image}:1.3.0` }, { generation: 3 });
  await settle(world);
  assert.deepEqual(
    world.statusOf('web').targets?.map(({ container }) => container),
    ['renamed', 'sidecar'],
  );
  assert.deepEqual(world.requests, []);
});

test('our own change of a target causes neither another reconcile nor a request to the registry', async () => {
  const world = createWorld();
  await processPush(pushOf(), contextOf(), world.ports);
  const before = world.policies.get('shop/web');
  assert.ok(before);
  await settle(world);
  const requests = [...world.requests];
  // The watch shows the patch, and then each step of its rollout, before the status is there.
  const { status: _, ...policy } = before;
  const late: PolicyStatus = {
    observedGeneration: 1,
    targets: [{ ...thisDeployment, container: 'web', image: `${image}:1.2.3`, state: 'Kept' }],
  };
  assert.deepEqual(neededReconciles({ ...policy, status: late }, asSeenBy(policy, world.ports.cluster), { now, withNew: false }), []);
  assert.deepEqual([jobsOf(world), world.requests], [[], requests]);
  // A crash between patch and status is found by the pass of a later minute.
  const later = new Date(startTime + 120_000);
  assert.equal(
    neededReconciles({ ...policy, status: late }, asSeenBy(policy, world.ports.cluster), { now: later, withNew: false }).length,
    1,
  );
});

test('a changed target is shown while the registry cannot be asked, and the last answer of the registry stays', async () => {
  const world = await applied();
  const policy = world.policies.get('shop/web');
  assert.ok(policy);
  const { conditions = [] } = stalledStatus('RegistryDenied');
  const denied = conditions.flatMap((condition) => [condition, { ...condition, type: 'Ready', status: 'False' as const }]);
  world.put({ ...policy, status: { ...policy.status, conditions: denied } });
  setByHand(world, '1.4.0');
  await settle(world);
  const { running, ready, reason } = state(world);
  assert.deepEqual([running, ready, reason, world.requests], ['1.4.0', 'False', 'RegistryDenied', []]);
});

test('a policy that has selected nothing shows what its targets run, without asking the registry', async () => {
  const world = createWorld();
  world.put(policyOf({ status: stalledStatus('NoMatchingTag') }));
  const policy = world.policies.get('shop/web');
  const job = policy && changedTargetsJob(policy, asSeenBy(policy, world.ports.cluster), { now, withNew: true });
  await processTask(job ?? assert.fail('no job'), contextOf(), world.ports);
  assert.deepEqual([world.statusOf('web').running, world.requests], ['1.2.3', []]);
  assert.equal(world.statusOf('web').conditions?.[0]?.reason, 'NoMatchingTag');
});

test('a suspended policy shows what its targets run', async () => {
  const world = await applied();
  const policy = world.policies.get('shop/web');
  assert.ok(policy);
  world.put({ ...policy, generation: 2, spec: specOf({ suspended: true }) });
  await settle(world);
  setByHand(world, '1.1.0');
  await settle(world);
  const { running, reason } = state(world);
  assert.deepEqual([running, reason, world.requests], ['1.1.0', 'Suspended', []]);
});

test('a target of a selector is removed from the status once its label is gone, and shown again when it is back', async () => {
  const world = createWorld();
  const selector = { matchLabels: { app: 'web' } };
  const spec = specOf({ targets: [{ kind: 'Deployment', namespace: 'shop', selector }] });
  world.put(policyOf({ spec }));
  const label = (labels: Record<string, string>) => {
    const workload = workloadOf({ web: { image: `${image}:1.3.0` } }, { labels });
    world.workloads.set('Deployment/shop/web', workload);
  };
  label({ app: 'web' });
  await settle(world);
  assert.equal(world.statusOf('web').running, '1.3.0');
  label({ app: 'other' });
  await settle(world);
  assert.equal(world.statusOf('web').running, '<none>');
});

for (const [why, tags] of [
  ['no matching tag', new Map([['main', digestOf('c')]])],
  ['no repository', new Map<string, string>()],
] as const) {
  test(`the status shows what the targets run although the registry holds ${why}`, async () => {
    const world = createWorld({ registry: { listTags: async () => (tags.size === 0 ? undefined : [...tags.keys()]) } });
    await settle(world);
    const { running, ready } = state(world);
    assert.deepEqual([running, ready], ['1.2.3', 'False']);
  });
}

test('the status shows what the targets run although the registry fails', async () => {
  const world = createWorld({ registry: { listTags: () => Promise.reject(new Error('connection refused')) } });
  const [job] = jobsOf(world);
  await assert.rejects(processTask(job ?? assert.fail('no job'), contextOf(), world.ports), /connection refused/);
  const { running, ready, reason } = state(world);
  assert.deepEqual([running, ready, reason], ['1.2.3', 'False', 'Retrying']);
});
