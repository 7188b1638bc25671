/** What users get who ask for a rollback, whatever happens at the same time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyJob } from '../../../src/service/queue/jobs.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf, specOf } from '../../core/model/samples.ts';
import { conditionsOf, policyIn, push, requestAction, start } from './asked-world.ts';
import { contextOf, image, pushOf, startTime, neededReconcile, withPorts, type World } from './world.ts';

const [b, c] = [digestOf('b'), digestOf('c')];

/** A rollback that a worker carries out, and dies before its second write to the status. Returns its job. */
async function rollBackAndDie(world: World): Promise<PolicyJob> {
  world.put({ ...policyIn(world), actions: { rollbackTo: 'previous' } });
  const job = neededReconcile(policyIn(world), world.ports.cluster, new Date(world.ports.cluster.now()));
  assert.ok(job);
  let writes = 0;
  const { writeStatus } = world.ports.policies;
  const killed = withPorts(world.ports, {
    policies: { writeStatus: (...args) => (writes++ === 0 ? writeStatus(...args) : Promise.reject(new Error('killed'))) },
  });
  await assert.rejects(processTask(job, contextOf(), killed));
  return job;
}

test('rollback: the former image is restored, and neither a reconcile nor a push applies the image that was left', async () => {
  const world = start();
  await push(world, '1.3.0', b);
  assert.ok(await requestAction(world, { rollbackTo: 'previous' }));
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  const { rejected, history, lastHandledRollback, latest } = world.statusOf('web');
  assert.deepEqual(
    rejected?.map(({ digest, tag, reason }) => [digest, tag, reason]),
    [[b, '1.3.0', 'RollbackRequested']],
  );
  assert.deepEqual([history?.[0]?.trigger, history?.[0]?.tag], ['Rollback', '1.2.3']);
  assert.deepEqual([lastHandledRollback, latest?.tag], ['previous', '1.3.0']);
  assert.deepEqual(conditionsOf(world), ['Ready=True RejectedDigest', 'Held=True RejectedDigest']);
  await push(world, '1.3.0', b);
  await push(world, '1.2.9', c);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  assert.equal(await requestAction(world, { rollbackTo: 'previous' }), false, 'once');
  await push(world, '1.4.0', c);
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
});

test('rollback: after a release the policy continues as before', async () => {
  const world = start();
  await push(world, '1.3.0', b);
  await requestAction(world, { rollbackTo: '1.2.3' });
  await requestAction(world, { rollbackTo: '1.2.3', release: new Date(startTime).toISOString() });
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.3.0`], ['Ready=True UpToDate']]);
});

test('rollback: after a crash between the patch and the status the next reconcile does not undo the rollback', async () => {
  const world = start();
  await push(world, '1.3.0', b);
  const job = await rollBackAndDie(world);
  await push(world, '1.3.0', b);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  await processTask(job, contextOf(), world.ports);
  assert.deepEqual([world.images(), world.statusOf('web').lastHandledRollback], [[`${image}:1.2.3`], 'previous']);
});

test('rollback: after a crash "previous" still means the image that it meant when the rollback began', async () => {
  const world = start();
  await push(world, '1.3.0', b);
  await push(world, '1.4.0', c);
  const job = await rollBackAndDie(world);
  assert.deepEqual([world.images(), world.statusOf('web').rollback?.tag], [[`${image}:1.3.0`], '1.3.0']);
  await processTask(job, contextOf(), world.ports);
  assert.deepEqual([world.images(), world.statusOf('web').rollback], [[`${image}:1.3.0`], undefined]);
});

test('rollback: a rollback that began and was replaced is not shown as under way once the other one is answered', async () => {
  const world = start();
  await push(world, '1.3.0', b);
  await rollBackAndDie(world);
  assert.equal(world.statusOf('web').rollback?.request, 'previous');
  await requestAction(world, { rollbackTo: 'not/a/tag' });
  assert.deepEqual([world.statusOf('web').rollback, world.statusOf('web').lastHandledRollback], [undefined, 'not/a/tag']);
});

test('rollback: a requested rollback is done before a push is applied, even if its own job was lost', async () => {
  const world = start();
  await push(world, '1.3.0', b);
  world.put({ ...policyIn(world), actions: { rollbackTo: 'previous' } });
  await push(world, '1.4.0', c);
  const { lastHandledRollback, history } = world.statusOf('web');
  assert.deepEqual([world.images(), lastHandledRollback], [[`${image}:1.4.0`], 'previous']);
  assert.deepEqual(
    history?.map(({ from, to, trigger }) => [from, to, trigger]),
    [
      [`${image}:1.2.3`, `${image}:1.4.0`, 'Webhook'],
      [`${image}:1.3.0`, `${image}:1.2.3`, 'Rollback'],
      [`${image}:1.2.3`, `${image}:1.3.0`, 'Webhook'],
    ],
  );
});

test('rollback: a replica whose cache lacks the rollback does not undo it', async () => {
  const world = start();
  await push(world, '1.3.0', b);
  const before = policyIn(world);
  await requestAction(world, { rollbackTo: 'previous' });
  const outdated = withPorts(world.ports, { policies: { find: () => before, writeStatus: () => Promise.resolve() } });
  await processPush(pushOf({ id: 'push-2', tag: '1.3.0', digest: b }), contextOf(), outdated);
  assert.deepEqual([world.images(), world.results.get('push-2 shop/web')?.reason], [[`${image}:1.2.3`], 'RejectedDigest']);
});

test('rollback: a repeated request for "previous" goes further back, and not forward again', async () => {
  const world = start();
  await push(world, '1.3.0', b);
  await push(world, '1.4.0', c);
  await requestAction(world, { rollbackTo: '1.2.3' });
  await requestAction(world, { rollbackTo: 'previous' });
  assert.deepEqual([world.images(), world.events.at(-1)?.reason], [[`${image}:1.2.3`], 'NoEarlierImage']);
});

test('rollback: a rollback works outside windows and without approval, but not in a dry run', async () => {
  const windows = [{ from: '20:00', to: '22:00', timeZone: 'UTC' }];
  const world = start();
  await push(world, '1.3.0', b);
  world.put({ ...policyIn(world), spec: specOf({ windows, mode: 'Approval' }) });
  await requestAction(world, { rollbackTo: 'previous' });
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  const dry = start();
  await push(dry, '1.3.0', b);
  dry.put({ ...policyIn(dry), spec: specOf({ mode: 'DryRun' }) });
  await requestAction(dry, { rollbackTo: 'previous' });
  assert.deepEqual(dry.images(), [`${image}:1.3.0`]);
});

test('rollback: an impossible request is answered with the reason', async () => {
  for (const [rollbackTo, why] of [
    ['previous', /holds no earlier image/],
    ['9.9.9', /the registry holds no .*9\.9\.9/],
    ['not/a/tag', /neither a tag nor "previous"/],
  ] as const) {
    const world = start();
    await requestAction(world, { rollbackTo });
    assert.equal(world.statusOf('web').lastHandledRollback, rollbackTo);
    const event = world.events.find(({ reason }) => reason === 'NoEarlierImage');
    assert.match(event?.message ?? '', why);
  }
});

test('rollback: if a push of an older image does the rollback first, the status still says that the selected image is held', async () => {
  const world = start();
  world.tags.set('1.2.9', c);
  await push(world, '1.3.0', b);
  world.put({ ...policyIn(world), actions: { rollbackTo: 'previous' } });
  await push(world, '1.2.9', c);
  assert.deepEqual(conditionsOf(world), ['Ready=True UpToDate']);
  // The job of the request is not made where the status is known to have handled it.
  const [follows] = world.jobs;
  assert.ok(follows);
  await processTask(follows, contextOf(), world.ports);
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.2.3`], ['Ready=True RejectedDigest', 'Held=True RejectedDigest']]);
});

test('rollback: to an image that runs already, it changes nothing, says so, and leaves the rejection of a failed image and the conditions as they are', async () => {
  const world = start();
  world.tags.set('1.3.0', b);
  const failed = {
    digest: b,
    tag: '1.3.0',
    reason: 'ImagePullFailed',
    message: 'the pod cannot pull it',
    at: '2026-01-01T00:00:00Z',
  } as const;
  const conditions = (['Ready', 'Stalled'] as const).map((type) => ({
    type,
    status: type === 'Ready' ? ('False' as const) : ('True' as const),
    reason: 'RejectedDigest',
    message: '1.3.0 failed its rollout',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 1,
  }));
  const latest = { tag: '1.3.0', digest: b, selectedAt: '2026-01-01T00:00:00Z' };
  world.put({ ...policyIn(world), status: { observedGeneration: 1, latest, rejected: [failed], conditions } });
  const before = conditionsOf(world);
  await requestAction(world, { rollbackTo: '1.2.3 now' });
  const { rejected, lastHandledRollback, lastRollbackProblem, rollback } = world.statusOf('web');
  assert.deepEqual([rejected, lastHandledRollback, rollback], [[failed], '1.2.3 now', undefined]);
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.2.3`], before]);
  assert.equal(lastRollbackProblem, 'nothing was rolled back: all targets run 1.2.3 already');
  assert.equal(world.events.find(({ reason }) => reason === 'NoEarlierImage')?.message, lastRollbackProblem);
  await push(world, '1.2.4', c);
  await requestAction(world, { rollbackTo: '1.2.3 again' });
  assert.equal(world.statusOf('web').lastRollbackProblem, undefined, 'it ends with a rollback that is done');
});

test('rollback: where everything is kept from being changed, the reason is in the status, and no image is rejected', async () => {
  const dry = start();
  await push(dry, '1.3.0', b);
  dry.put({ ...policyIn(dry), spec: specOf({ mode: 'DryRun' }) });
  await requestAction(dry, { rollbackTo: 'previous' });
  assert.match(dry.statusOf('web').lastRollbackProblem ?? '', /^nothing was rolled back: .*dry run/i);
  assert.deepEqual([dry.images(), dry.statusOf('web').rejected], [[`${image}:1.3.0`], undefined]);
});

test('rollback: it is done where neither the cache nor the status shows the last change yet', async () => {
  const world = start();
  const web = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
  const old = world.ports.cluster.findWorkload(web);
  await push(world, '1.3.0', b);
  const { history: _, ...status } = world.statusOf('web');
  world.put({ ...policyIn(world), status, actions: { rollbackTo: '1.2.3' } });
  const job = neededReconcile(policyIn(world), world.ports.cluster, new Date(world.ports.cluster.now()));
  assert.ok(job && old);
  await processTask(job, contextOf(), withPorts(world.ports, { cluster: { findWorkload: () => old } }));
  const { rejected, lastRollbackProblem } = world.statusOf('web');
  assert.deepEqual([world.images(), rejected?.map(({ tag }) => tag), lastRollbackProblem], [[`${image}:1.2.3`], ['1.3.0'], undefined]);
});
