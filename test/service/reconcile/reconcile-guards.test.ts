/** What guards and users' actions make of looks: from the annotation or the time to the workload and the status. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitJob } from '../../../src/service/reconcile/enqueue/wait-job.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { actionJob } from '../../../src/service/reconcile/enqueue/requested-actions.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { digestOf, policyOf, stalledStatus, webDeployment } from '../../core/model/samples.ts';
import { conditionsOf, policyIn, push, requestAction, start } from './asked-world.ts';
import { contextOf, image, pushOf, setWorkload, startTime, type World, neededReconcile, withPorts } from './world.ts';

const [b, c] = [digestOf('b'), digestOf('c')];

const reasonsOf = (world: World) => world.events.map(({ reason, regarding }) => `${regarding.kind} ${reason}`);

test('dry run: the plan is written to the status and one Event, and nothing else is written', async () => {
  const world = start({ mode: 'DryRun' });
  await push(world, '1.3.0', b);
  await push(world, '1.3.0', b);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  const { latest, targets, history, conditions = [] } = world.statusOf('web');
  assert.deepEqual([latest?.tag, targets?.[0]?.state, history], ['1.3.0', 'Kept', undefined]);
  assert.match(targets?.[0]?.message ?? '', /would be changed: web from .*1\.2\.3 to .*1\.3\.0/);
  assert.deepEqual(conditionsOf(world), ['Ready=True DryRun']);
  assert.match(conditions[0]?.message ?? '', /^dry run: /);
  assert.deepEqual(reasonsOf(world), ['ImagePolicy DryRun']);
});

test('approval: only the pending candidate can be approved, and a newer push replaces it', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, '1.3.0', b);
  assert.deepEqual(world.statusOf('web').pendingApproval, { tag: '1.3.0', digest: b });
  assert.deepEqual(conditionsOf(world), ['Ready=True ApprovalRequired', 'ApprovalRequired=True ApprovalRequired']);
  await push(world, '1.4.0', c);
  assert.deepEqual(world.statusOf('web').pendingApproval, { tag: '1.4.0', digest: c });
  // Approved was what is not pending any more.
  assert.ok(await requestAction(world, { approve: `1.3.0@${b}` }));
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  const told = world.statusOf('web').conditions?.find(({ type }) => type === 'ApprovalRequired')?.message;
  assert.match(told ?? '', /"1\.3\.0@sha256:b+" approves something else/);
  assert.equal(await requestAction(world, { approve: `1.3.0@${b}` }), false, 'told once');
  assert.ok(await requestAction(world, { approve: `1.4.0@${c}` }));
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
  const { pendingApproval, history } = world.statusOf('web');
  assert.deepEqual([pendingApproval, history?.[0]?.trigger], [undefined, 'Approval']);
  assert.deepEqual(conditionsOf(world), ['Ready=True UpToDate']);
  assert.equal(await requestAction(world, { approve: `1.4.0@${c}` }), false);
});

test('approval: an older push does not replace the pending candidate', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, '1.4.0', c);
  await push(world, '1.3.0', b);
  assert.deepEqual(world.statusOf('web').pendingApproval, { tag: '1.4.0', digest: c });
});

test('approval: an approved tag that has moved is not applied', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, '1.3.0', b);
  world.tags.set('1.3.0', c);
  await requestAction(world, { approve: `1.3.0@${b}` });
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  assert.deepEqual(world.statusOf('web').pendingApproval, { tag: '1.3.0', digest: c });
});

test('approval: a failing push does not clear the pending candidate', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, '1.3.0', b);
  const ports = withPorts(world.ports, { registry: { headManifest: () => Promise.reject(new Error('ECONNRESET')) } });
  await assert.rejects(processPush(pushOf({ tag: '1.4.0' }), contextOf({ failures: 5 }), ports));
  assert.deepEqual(world.statusOf('web').pendingApproval, { tag: '1.3.0', digest: b });
});

test('window: an update waits for the next window with a delayed job, and is applied then', async () => {
  let at = startTime;
  const windows = [{ from: '20:00', to: '22:00', timeZone: 'UTC' }];
  const world = start({ windows }, { cluster: { now: () => at } });
  await push(world, '1.3.0', b);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  const { waiting, latest } = world.statusOf('web');
  assert.deepEqual([waiting?.tag, waiting?.digest, waiting?.until, waiting?.reason], ['1.3.0', b, '2026-03-01T20:00:00Z', 'Window']);
  assert.equal(latest?.tag, '1.3.0');
  assert.deepEqual(conditionsOf(world), ['Ready=False Window', 'Reconciling=True Window']);
  // An older push meanwhile does not take its place; nor does a failure.
  await push(world, '1.2.9', c);
  assert.equal(world.statusOf('web').waiting?.tag, '1.3.0');
  // Nor does one that changes nothing, because what runs is newer, or the same once more.
  for (const tag of ['1.2.2', '1.2.3']) await push(world, tag, c);
  assert.deepEqual([world.statusOf('web').waiting?.tag, conditionsOf(world)], ['1.3.0', ['Ready=False Window', 'Reconciling=True Window']]);
  const job = waitJob(policyIn(world));
  assert.equal(job?.wait?.at, '2026-03-01T20:00:00.000Z');
  at = Date.parse('2026-03-01T20:00:00Z');
  await processTask(job, contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  assert.deepEqual([world.statusOf('web').waiting, conditionsOf(world)], [undefined, ['Ready=True UpToDate']]);
});

test('held: a manual rollback stays until there is a newer image or somebody releases it', async () => {
  const world = start();
  await push(world, '1.3.0', b);
  const byHand = () =>
    setWorkload(world, { web: { image: `${image}:1.2.3`, imageOwner: 'kubectl-set', imageSetAt: '2026-03-01T12:00:00Z' } });
  byHand();
  await push(world, '1.3.0', b);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  assert.deepEqual(conditionsOf(world), ['Ready=True Held', 'Held=True Held']);
  await push(world, '1.3.1', c);
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.3.1`], ['Ready=True UpToDate']]);
  byHand();
  await push(world, '1.3.1', c);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  assert.ok(await requestAction(world, { release: '2026-03-01T12:00:00Z' }));
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.3.1`], ['Ready=True UpToDate']]);
});

test('held: a release at a future time is shown at once, may be moved, and takes effect at its time', async () => {
  let at = startTime;
  const world = start({}, { cluster: { now: () => at } });
  await push(world, '1.3.0', b);
  setWorkload(world, { web: { image: `${image}:1.2.3`, imageOwner: 'kubectl-set', imageSetAt: '2026-03-01T12:00:00Z' } });
  await push(world, '1.3.0', b);
  const late = '2026-03-02T08:00:00.250Z';
  world.put({ ...policyIn(world), actions: { release: late } });
  const first = actionJob(policyIn(world))?.cause;
  assert.ok(await requestAction(world, { release: late }));
  assert.deepEqual(conditionsOf(world), ['Ready=False Held', 'Reconciling=True Held', 'Held=True Held']);
  assert.equal(world.statusOf('web').waiting?.until, '2026-03-02T08:00:01Z');
  assert.equal(actionJob(policyIn(world)), undefined, 'asked once');
  assert.ok(await requestAction(world, { release: '2026-03-01T20:00:00Z' }), 'moved');
  assert.equal(world.statusOf('web').waiting?.until, '2026-03-01T20:00:00Z');
  world.put({ ...policyIn(world), actions: { release: late } });
  assert.notEqual(actionJob(policyIn(world))?.cause, first, 'and back again: another job');
  world.put({ ...policyIn(world), actions: { release: '2026-03-01T20:00:00Z' } });
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  const job = waitJob(policyIn(world));
  assert.ok(job);
  at = Date.parse('2026-03-01T20:00:00Z');
  await processTask(job, contextOf(), world.ports);
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.3.0`], ['Ready=True UpToDate']]);
});

test('reverted: a change that a GitOps tool has reverted is not repeated endlessly, and a release allows one more', async () => {
  let at = startTime;
  const world = start({}, { cluster: { now: () => at } });
  const changes = () => world.requests.filter((request) => request.startsWith('PATCH')).length;
  for (let round = 0; round < 5; round++) {
    await push(world, '1.3.0', b);
    at += 60_000;
    setWorkload(world, { web: { image: `${image}:1.2.3`, imageOwner: 'argocd-controller' } });
  }
  assert.equal(changes(), 2);
  assert.deepEqual(conditionsOf(world), ['Ready=False ChangeReverted', 'Stalled=True ChangeReverted']);
  assert.equal(world.statusOf('web').reverted?.[0]?.count, 2);
  const { running, targets, targetCounts } = world.statusOf('web');
  assert.deepEqual([running, targets?.map(({ image: runs, state }) => [runs, state])], ['1.2.3', [[`${image}:1.2.3`, 'Problem']]]);
  assert.deepEqual(targetCounts, { total: 1, upToDate: 0, problems: 1 });
  assert.ok(await requestAction(world, { release: new Date(at + 1_000).toISOString() }), 'a clock that is ahead');
  assert.deepEqual([changes(), conditionsOf(world)], [2, ['Ready=False ChangeReverted', 'Reconciling=True ChangeReverted']]);
  assert.ok(await requestAction(world, { release: new Date(at).toISOString() }));
  assert.deepEqual([changes(), world.images()], [3, [`${image}:1.3.0`]]);
});

test('rewritten: an image that admission has rewritten is not written again', async () => {
  const world = start();
  const { patchImages } = world.ports.workloads;
  const rewriting = withPorts(world.ports, {
    workloads: {
      patchImages(workload, changes, ...rest) {
        const rewritten = changes.map((one) => ({ ...one, to: `${image}:1.2.9-hardened` }));
        return patchImages(workload, rewritten, ...rest);
      },
    },
  });
  world.tags.set('1.3.0', b);
  for (let round = 0; round < 3; round++) await processPush(pushOf({ tag: '1.3.0', digest: b }), contextOf(), rewriting);
  assert.equal(world.requests.filter((request) => request.startsWith('PATCH')).length, 1);
  assert.deepEqual(conditionsOf(world), ['Ready=True UpToDate']);
  assert.deepEqual(
    world.statusOf('web').history?.map(({ tag, to }) => [tag, to]),
    [['1.3.0', `${image}:1.2.9-hardened`]],
  );
});

test('held: a crash between the patch and the status does not hold a container', async () => {
  const world = start();
  const broken = withPorts(world.ports, { policies: { writeStatus: () => Promise.reject(new Error('killed')) } });
  world.tags.set('1.3.0', b);
  await assert.rejects(processPush(pushOf({ tag: '1.3.0', digest: b }), contextOf(), broken));
  await push(world, '1.3.0', b);
  await push(world, '1.3.1', c);
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.3.1`], ['Ready=True UpToDate']]);
});

test('a request to check is answered by a reconcile, whatever its result', async () => {
  const world = start();
  assert.ok(await requestAction(world, { requestedAt: 'now' }));
  assert.deepEqual([world.images(), world.statusOf('web').lastHandledRequest], [[`${image}:1.3.0`], 'now']);
  assert.equal(world.statusOf('web').history?.[0]?.trigger, 'Request');
  assert.equal(await requestAction(world, { requestedAt: 'now' }), false);
  const suspended = start({ suspended: true });
  await requestAction(suspended, { requestedAt: 'again' });
  assert.equal(suspended.statusOf('web').lastHandledRequest, 'again');
  const missing = start({ targets: [{ ...webDeployment, name: 'missing' }] });
  await requestAction(missing, { requestedAt: 'again' });
  assert.deepEqual([missing.statusOf('web').lastHandledRequest, conditionsOf(missing)?.[1]], ['again', 'Stalled=True TargetNotFound']);
});

test('a replica whose cache lacks the annotation of an approval reads the policy', async () => {
  const world = start({ mode: 'Approval' });
  await push(world, '1.3.0', b);
  const older = policyIn(world);
  world.put({ ...older, resourceVersion: '2', actions: { approve: `1.3.0@${b}` } });
  const job = neededReconcile(policyIn(world), world.ports.cluster, new Date(world.ports.cluster.now()));
  assert.ok(job);
  await processTask(job, contextOf(), withPorts(world.ports, { policies: { find: () => older } }));
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('paused: a paused target is not changed until it is resumed, which enqueues the policy', async () => {
  const world = start();
  setWorkload(world, { web: `${image}:1.2.3` }, { paused: true });
  await push(world, '1.3.0', b);
  assert.deepEqual([world.images(), conditionsOf(world)], [[`${image}:1.2.3`], ['Ready=True TargetPaused', 'Held=True TargetPaused']]);
  setWorkload(world, { web: `${image}:1.2.3` }, { generation: 2 });
  const job = neededReconcile(policyIn(world), world.ports.cluster, new Date(world.ports.cluster.now()));
  assert.equal(job?.source, 'TargetChange');
  await processTask(job, contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('a release of the selected image makes a job even if the status is about the former image, which failed after a rollback', () => {
  const jobWith = (rejected: PolicyStatus['rejected'], release: string) => {
    const status = { ...stalledStatus('RolloutFailed'), latest: { tag: '1.3.0', digest: b, selectedAt: '2026-03-01T12:00:00Z' } };
    return actionJob(policyOf({ actions: { release }, status: { ...status, ...(rejected && { rejected }) } }))?.source;
  };
  const failed = (digest: string) => [{ tag: '1.3.0', digest, reason: 'CrashLoop', at: '2026-03-01T12:00:10.500Z' }];
  assert.equal(jobWith(failed(b), '2026-03-01T12:01:00Z'), 'Request');
  // It failed again after the release, or it is another image that failed.
  assert.equal(jobWith(failed(b), '2026-03-01T12:00:00Z'), undefined);
  assert.equal(jobWith(failed(c), '2026-03-01T12:01:00Z'), undefined);
});
