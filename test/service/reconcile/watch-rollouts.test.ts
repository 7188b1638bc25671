import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import type { PodState } from '../../../src/core/rollout/evaluate-pods.ts';
import { reconcileAndReport } from '../../../src/service/reconcile/process-policy.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, policyOf } from '../../core/model/samples.ts';
import { changedWorkload, entryOf, stuckRollout, image, rolledOut, waitingPod, watchedSpec } from '../../core/rollout/rollout-samples.ts';
import {
  changeTime,
  changedWorld,
  jobOf,
  conditionLines,
  reconcile,
  historyLines,
  eventLines,
  uid,
  namespace,
  name,
} from './changed-world.ts';
import { withPorts, contextOf, createWorld, pushOf, startTime, type World } from './world.ts';

test('a policy is not Ready before the rollout of its update is complete', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: watchedSpec() }));
  world.workloads.set('Deployment/shop/web', changedWorkload({ ...rolledOut, observedGeneration: 2 }, {}, '1.2.3'));
  await reconcileAndReport(
    {
      ...contextOf(),
      request: { policy: { namespace, name, uid }, hint: { tag: '1.3.0' }, announced: true },
      cause: { source: 'Webhook', receivedAt: changeTime, eventId: 'push-1' },
    },
    world.ports,
  );
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  assert.deepEqual(conditionLines(world), ['Ready=False Progressing', 'Reconciling=True Progressing']);
  world.workloads.set('Deployment/shop/web', changedWorkload(rolledOut, { generation: 2 }));
  await reconcile(world);
  assert.deepEqual(conditionLines(world), ['Ready=True UpToDate']);
  assert.deepEqual(historyLines(world), ['Webhook RolledOut']);
  assert.equal(world.results.get('push-1 shop/web')?.reason, 'RolledOut');
});

test('a policy whose workload cannot be watched is Ready at once, and the message says so', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: watchedSpec() }));
  world.workloads.set('Deployment/shop/web', changedWorkload({ haltedBecause: 'it is paused' }, {}, '1.2.3'));
  await reconcileAndReport(
    {
      ...contextOf(),
      request: { policy: { namespace, name, uid }, hint: { tag: '1.3.0' }, announced: true },
      cause: { source: 'Webhook', receivedAt: changeTime },
    },
    world.ports,
  );
  assert.deepEqual(conditionLines(world), ['Ready=True UpToDate']);
  assert.match(world.statusOf('web').conditions?.[0]?.message ?? '', /not watched: it is paused/);
  assert.ok(eventLines(world).includes('RolloutNotWatched ImagePolicy') && eventLines(world).includes('RolloutNotWatched Deployment'));
});

test('a complete rollout is reported once, with the time since the push', async () => {
  const world = changedWorld(changedWorkload(rolledOut));
  const job = jobOf(world);
  for (let twice = 0; twice < 2; twice++) await processTask(job, contextOf(), world.ports);
  assert.deepEqual([historyLines(world), conditionLines(world)], [['Webhook RolledOut'], ['Ready=True UpToDate']]);
  assert.deepEqual(eventLines(world), ['RolledOut ImagePolicy', 'RolledOut Deployment']);
  assert.equal(world.results.get('push-1 shop/web')?.at, new Date(startTime).toISOString());
  const metrics = await world.ports.report.metrics.registry.metrics();
  assert.match(metrics, /image_watcher_rollouts_total\{kind="Deployment",result="RolledOut"\} 1/);
  assert.match(metrics, /image_watcher_push_to_available_seconds_sum 60/);
  assert.deepEqual(
    world.requests.filter((request) => request.startsWith('LIST')),
    [],
    'pods are not asked',
  );
});

test('when the rollouts of several workloads are complete, the audit record names all of them', async () => {
  const world = createWorld();
  const names = ['web', 'worker'];
  const runs = (name: string, ...[rollout, more, tag]: Parameters<typeof changedWorkload>) =>
    world.workloads.set(`Deployment/shop/${name}`, { ...changedWorkload(rollout, more, tag), name, uid: `uid-of-${name}` });
  const targets = names.map((name) => ({ kind: 'Deployment', namespace: 'shop', name }));
  world.put(policyOf({ spec: watchedSpec('Rollback', { targets }) }));
  for (const name of names) runs(name, { ...rolledOut, observedGeneration: 2 }, {}, '1.2.3');
  await reconcileAndReport(
    {
      ...contextOf(),
      request: { policy: { namespace, name, uid }, hint: { tag: '1.3.0' }, announced: true },
      cause: { source: 'Webhook', receivedAt: changeTime, eventId: 'push-1' },
    },
    world.ports,
  );
  for (const name of names) runs(name, rolledOut, { generation: 2 });
  await reconcile(world);
  const { reason, message, changes } = world.results.get('push-1 shop/web') ?? {};
  assert.deepEqual([reason, message], ['RolledOut', `${image}:1.3.0 is out on 2 workloads: Deployment shop/web; Deployment shop/worker`]);
  assert.deepEqual(
    changes?.map(({ workload }) => workload.name),
    names,
  );
});

test('a failed rollout is rolled back and watched, and its digest is rejected with the message of the pod', async () => {
  const message = 'Back-off pulling image: manifest unknown';
  const world = changedWorld(
    changedWorkload(),
    {},
    { workloads: { readPods: async () => [{ ...waitingPod('ImagePullBackOff', { message }), startedAt: changeTime }] } },
  );
  await reconcile(world);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  assert.deepEqual(historyLines(world), ['Rollback Applied', 'Webhook RolledBack']);
  const [rejected] = world.statusOf('web').rejected ?? [];
  assert.deepEqual([rejected?.digest, rejected?.reason], [digestOf('b'), 'ImagePullFailed']);
  assert.match(rejected?.message ?? '', /pod web-2-x, container web: ImagePullBackOff: Back-off pulling image: manifest unknown/);
  assert.deepEqual(eventLines(world), [
    'RolloutFailed ImagePolicy',
    'RolloutFailed Deployment',
    'RolledBack ImagePolicy',
    'RolledBack Deployment',
  ]);
  assert.deepEqual([world.results.get('push-1 shop/web')?.kind, world.results.get('push-1 shop/web')?.reason], ['stalled', 'RolledBack']);
  assert.deepEqual(conditionLines(world), ['Ready=False Progressing', 'Reconciling=True Progressing']);
  assert.equal(world.jobs.length, 1);

  world.workloads.set('Deployment/shop/web', changedWorkload({ ...rolledOut, observedGeneration: 3 }, { generation: 3 }, '1.2.3'));
  await reconcile(world);
  assert.deepEqual(historyLines(world), ['Rollback RolledOut', 'Webhook RolledBack']);
  assert.deepEqual(conditionLines(world), ['Ready=False RejectedDigest', 'Stalled=True RejectedDigest']);
});

test('a rejected digest is not tried again, and a newer one is', async () => {
  const world = changedWorld(changedWorkload(stuckRollout));
  await reconcile(world);
  const again = (tag: string) =>
    reconcileAndReport(
      {
        ...contextOf(),
        request: { policy: { namespace, name, uid }, hint: { tag }, announced: true, announcedAt: 0 },
        cause: { source: 'Webhook', receivedAt: changeTime },
      },
      world.ports,
    );
  const outcome = await again('1.3.0');
  assert.deepEqual([outcome.kind, outcome.reason], ['stalled', 'RejectedDigest']);
  assert.match(outcome.message, /1\.3\.0 .*timed out progressing.*Push a better image/);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  world.tags.set('1.3.0', digestOf('c'));
  assert.equal((await again('1.3.0')).kind, 'updated');
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('a rollout times out only with a new pod that had its time, and is checked again until then', async () => {
  const overdue = new Date(startTime - 700_000).toISOString();
  const pod = (startedAt: string) => ({ ...waitingPod('ContainerCreating'), startedAt });
  const rows: [pods: () => Promise<PodState[]>, results: string[]][] = [
    [async () => [pod(overdue)], ['Rollback Applied', 'Webhook RolledBack']],
    [async () => [pod(changeTime)], ['Webhook Applied']],
    [async () => [], ['Webhook Applied']],
    [() => Promise.reject(new Error('403')), ['Rollback Applied', 'Webhook RolledBack']],
  ];
  for (const [readRolloutPods, expected] of rows) {
    const world = changedWorld(
      changedWorkload({ updated: 1 }),
      { status: { history: [entryOf({ at: overdue })] } },
      { workloads: { readPods: readRolloutPods } },
    );
    await reconcile(world);
    assert.deepEqual(historyLines(world), expected);
    assert.equal(world.jobs.length, 1);
  }
});

test('onFailure: Hold stops at a failed rollout, and onFailure: Ignore only reports it', async () => {
  for (const [onFailure, conditions, rejected] of [
    ['Hold', ['Ready=False RolloutFailed', 'Stalled=True RolloutFailed', 'Held=True RolloutFailed'], 1],
    ['Ignore', ['Ready=False RolloutFailed', 'Stalled=True RolloutFailed'], 0],
  ] as const) {
    const world = changedWorld(changedWorkload(stuckRollout), { onFailure });
    await reconcile(world);
    assert.deepEqual(world.images(), [`${image}:1.3.0`]);
    assert.deepEqual([conditionLines(world), historyLines(world)], [conditions, ['Webhook Failed']]);
    assert.equal(world.statusOf('web').rejected?.length ?? 0, rejected);
    assert.deepEqual(eventLines(world), ['RolloutFailed ImagePolicy', 'RolloutFailed Deployment']);
    assert.deepEqual(world.jobs, []);
  }
});

test('a manual change of the image during a rollout check is left alone', async () => {
  const world = changedWorld(changedWorkload(stuckRollout));
  const byHand = changedWorkload(
    { observedGeneration: 3 },
    { generation: 3, containers: [{ name: 'web', image: `${image}:9`, imageOwner: 'kubectl' }] },
  );
  await processTask(jobOf(world), contextOf(), withPorts(world.ports, { workloads: { read: async () => byHand } }));
  assert.deepEqual(historyLines(world), ['Webhook Applied']);
  assert.equal(world.requests.includes('PATCH web'), false);
});

test('after a conflict of the rollback the rollout is checked again', async () => {
  let conflicts = 0;
  const world = changedWorld(changedWorkload(stuckRollout));
  const patchImages: World['ports']['workloads']['patchImages'] = async (...args) =>
    conflicts++ === 0 ? { kind: 'conflict' } : world.ports.workloads.patchImages(...args);
  await processTask(jobOf(world), contextOf(), withPorts(world.ports, { workloads: { patchImages } }));
  assert.deepEqual(historyLines(world), ['Rollback Applied', 'Webhook RolledBack']);
});

test('an image that may not be rolled back stays, and conditions and Events say so', async () => {
  const refuse = async () => {
    throw new PermanentError('PatchRejected', 'the API server refuses the change');
  };
  const refused = changedWorld(changedWorkload(stuckRollout), {}, { workloads: { patchImages: refuse } });
  const unknown = changedWorld(changedWorkload(stuckRollout), {
    status: { history: [{ ...entryOf({ at: changeTime }), from: `${image}:1.3.0` }] },
  });
  for (const [world, why] of [
    [refused, /API server refuses/],
    [unknown, /same tag/],
  ] as const) {
    await reconcile(world);
    assert.deepEqual(historyLines(world), ['Webhook Failed']);
    assert.ok(eventLines(world).includes('RollbackFailed ImagePolicy'), eventLines(world).join());
    assert.match(world.events.find(({ reason }) => reason === 'RollbackFailed')?.message ?? '', why);
    assert.ok(conditionLines(world)?.includes('Stalled=True RolloutFailed'));
  }
});

test('after a crash at each step of a rollback, the next reconcile completes it', async () => {
  for (const dies of ['before the status', 'before the patch', 'after the patch'] as const) {
    const world = changedWorld(changedWorkload(stuckRollout));
    let writes = 0;
    const crash = async () => {
      throw new Error('killed');
    };
    const writeStatus: World['ports']['policies']['writeStatus'] = async (...args) => {
      writes++;
      if (dies === 'before the status' || (dies === 'after the patch' && writes === 2)) return crash();
      return world.ports.policies.writeStatus(...args);
    };
    const ports = withPorts(world.ports, {
      policies: { writeStatus },
      workloads: { ...(dies === 'before the patch' && { patchImages: crash }) },
    });
    await assert.rejects(processTask(jobOf(world), contextOf(), ports), /killed/);
    await reconcile(world);
    assert.deepEqual(world.images(), [`${image}:1.2.3`], dies);
    assert.deepEqual(historyLines(world), ['Rollback Applied', 'Webhook RolledBack'], dies);
    assert.equal(world.statusOf('web').rejected?.length, 1, dies);
    assert.equal(world.requests.filter((request) => request === 'PATCH web').length, 1, dies);
  }
});

test('after a crash before the status a rollout is found by the running image, with the former image and its own digest', async () => {
  const seen = {
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    container: 'web',
    image: `${image}:1.2.3`,
    state: 'UpToDate',
  } as const;
  const world = changedWorld(changedWorkload(), { status: { history: [], targets: [seen], lastAppliedTag: '1.2.3' } });
  const { receivedAt } = pushOf();
  await reconcileAndReport(
    {
      ...contextOf(),
      request: { policy: { namespace, name, uid }, hint: { tag: '1.3.0' }, announced: true },
      cause: { source: 'Webhook', receivedAt },
    },
    world.ports,
  );
  const [found] = world.statusOf('web').history ?? [];
  assert.deepEqual([found?.from, found?.to, found?.digest], [`${image}:1.2.3`, `${image}:1.3.0`, undefined]);
  assert.deepEqual(conditionLines(world), ['Ready=False Progressing', 'Reconciling=True Progressing']);
  world.workloads.set('Deployment/shop/web', changedWorkload(stuckRollout));
  await reconcile(world);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  assert.deepEqual(
    world.statusOf('web').rejected?.map(({ digest }) => digest),
    [digestOf('b')],
  );
});

test('a replica whose cache lags behind reads the policy before it evaluates a rollout', async () => {
  const world = changedWorld(changedWorkload(rolledOut));
  const job = jobOf(world);
  const behind = policyOf({ spec: watchedSpec(), status: { observedGeneration: 1 } });
  let findPolicy: World['ports']['policies']['find'] = () => behind;
  const writeStatus: World['ports']['policies']['writeStatus'] = async (...args) => {
    await world.ports.policies.writeStatus(...args);
    findPolicy = world.ports.policies.find;
  };
  await processTask(job, contextOf(), withPorts(world.ports, { policies: { find: (...names) => findPolicy(...names), writeStatus } }));
  assert.deepEqual(historyLines(world), ['Webhook RolledOut']);
});

test('pods that may not be read do not prevent the evaluation of a rollout', async () => {
  const world = changedWorld(
    changedWorkload(stuckRollout),
    { onFailure: 'Hold' },
    { workloads: { readPods: () => Promise.reject(new Error('403')) } },
  );
  await reconcile(world);
  assert.deepEqual(historyLines(world), ['Webhook Failed']);
  assert.match(world.statusOf('web').history?.[0]?.failure?.message ?? '', /timed out progressing/);
});
