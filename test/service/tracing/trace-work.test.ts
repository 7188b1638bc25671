/** The work itself, traced: with the real ports replaced, and traces kept as a list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceJobs } from '../../../src/service/tracing/trace-jobs.ts';
import { tracePorts } from '../../../src/service/tracing/trace-work.ts';
import type { PolicyJob, PushJob } from '../../../src/service/queue/jobs.ts';
import type { TracedChange } from '../../../src/service/queue/trace-memory.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { policyOf } from '../../core/model/samples.ts';
import { rolledOut } from '../../core/rollout/rollout-samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, type World } from '../reconcile/world.ts';
import { fakeTracing } from './fake-tracing.ts';

const current = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const earlier = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

function trace(world: World, remembered?: TracedChange) {
  const { tracing, told } = fakeTracing(current);
  const changes: [string, string][] = [];
  const ports = tracePorts(world.ports, tracing, (uid, { traceparent }) => void changes.push([uid, traceparent]));
  const runner = traceJobs(ports, tracing, () => Promise.resolve(remembered));
  const push = (job: PushJob) => runner.push(job, contextOf(), (own) => processPush(job, contextOf(), own));
  return { told, changes, runner, push };
}

test('a push continues the trace that its job names, and one of a version without traces begins a new one', async () => {
  for (const traceparent of [earlier, undefined]) {
    const world = createWorld();
    const { told, changes, push } = trace(world);
    await push({ ...pushOf(), ...(traceparent !== undefined && { traceparent }) });
    assert.deepEqual(world.images(), [`${image}:1.3.0`]);
    assert.deepEqual(
      told.map(({ name, attributes }) => [name, attributes['image_watcher.reason']]),
      [
        ['process push', undefined],
        ['matched', undefined],
        ['decision', 'Updated'],
      ],
    );
    assert.deepEqual([told[0]?.start?.parent, told[0]?.start?.kind], [traceparent, 'consumer']);
    assert.deepEqual(changes, [], 'nothing rolls out there');
  }
});

test('the trace of a change is stored before the patch, for the replicas that watch its rollout', async () => {
  const world = createWorld();
  setWorkload(world, { web: `${image}:1.2.3` }, { rollout: rolledOut });
  const { changes, push } = trace(world);
  await push(pushOf());
  assert.deepEqual(changes, [[policyOf().uid, current]]);
});

test('with several policies each job carries the trace', async () => {
  const world = createWorld();
  world.put(policyOf({ name: 'second', uid: 'uid-second' }));
  const { told, push } = trace(world);
  await push(pushOf());
  assert.deepEqual(
    world.jobs.map(({ traceparent }) => traceparent),
    [current, current],
  );
  assert.ok(told.some(({ name }) => name === 'send policy'));
});

test('a check of rollouts belongs to the trace of the change, whoever requested it, and without a stored trace to a new one', async () => {
  const job: PolicyJob = {
    schema: 1,
    policy: { namespace: 'shop', name: 'web', uid: 'uid-web' },
    source: 'TargetChange',
    cause: 'rollout:1',
    receivedAt: '2026-03-01T12:00:00Z',
    task: 'rollout',
    traceparent: current,
  };
  for (const change of [{ traceparent: earlier, at: 1_763_700_000_123 }, undefined]) {
    const world = createWorld();
    const { told, runner } = trace(world, change);
    const [workload] = world.workloads.values();
    assert.ok(workload);
    await runner.policy(job, contextOf(), ({ report, queues }) => {
      report.observer?.rolledOut?.('shop/web', workload, { reason: 'RolloutFailed', message: 'it crashed' });
      return queues.addPolicyJobs([job]);
    });
    const [look, rollout] = told.filter(({ name }) => name === 'check rollout' || name === 'rollout');
    assert.equal(look?.start?.parent, change?.traceparent);
    assert.deepEqual(
      [rollout?.start?.parent, rollout?.start?.startedAt, rollout?.failure],
      change === undefined ? [undefined, undefined, undefined] : [earlier, change.at, 'it crashed'],
    );
    assert.deepEqual(world.jobs, [job], 'the next look is ordered as it is');
  }
});
