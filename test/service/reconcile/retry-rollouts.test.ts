/** An image whose rollout fails for another reason than the image is rolled back, not rejected, and tried again with growing pauses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { toSeconds } from '../../../src/core/model/text.ts';
import { retryPausesMs } from '../../../src/core/plan/retries.ts';
import { waitJob } from '../../../src/service/reconcile/enqueue/wait-job.ts';
import { actionJob } from '../../../src/service/reconcile/enqueue/requested-actions.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { rolloutJob } from '../../../src/service/reconcile/rollouts/rollout-job.ts';
import type { PodState } from '../../../src/core/rollout/evaluate-pods.ts';
import { digestOf } from '../../core/model/samples.ts';
import { changedWorkload, image, rolledOut, rolloutOf, runningPod } from '../../core/rollout/rollout-samples.ts';
import { changedWorld, changeTime, conditionLines, historyLines } from './changed-world.ts';
import { contextOf, startTime } from './world.ts';

const nodes = '0/3 nodes are available: 3 Insufficient cpu.';
const key = 'Deployment/shop/web';

/** shop/web was changed to 1.3.0, and the pods of 1.3.0 show `trouble`; the clock is moved by hand. */
function failingWorld(onFailure: 'Rollback' | 'Hold' = 'Rollback') {
  let now = startTime;
  let pods: PodState[] = [{ ...runningPod(), startedAt: changeTime, trouble: { reason: 'Unschedulable', message: nodes }, containers: [] }];
  const latest = { tag: '1.3.0', digest: digestOf('b'), selectedAt: changeTime };
  const world = changedWorld(
    changedWorkload(),
    { onFailure, status: { latest } },
    { cluster: { now: () => now, repeatsPerHour: 10 }, workloads: { readPods: async () => pods } },
  );
  const policyOf = () => world.policies.get('shop/web') ?? assert.fail();
  const workloadOf = (): Workload => world.workloads.get(key) ?? assert.fail();
  const report = (rollout: Workload['rollout']) => {
    const workload = workloadOf();
    world.workloads.set(key, { ...workload, rollout: { ...rolloutOf(), ...rollout, observedGeneration: workload.generation } });
  };
  const check = async () => {
    const job = rolloutJob(policyOf(), asSeenBy(policyOf(), world.ports.cluster), new Date(now)) ?? assert.fail('no check is due');
    await processTask(job, contextOf(), world.ports);
  };
  return {
    world,
    policyOf,
    status: () => world.statusOf('web'),
    setPods: (shown: PodState[]) => (pods = shown),
    /** The controller gives up, the workload goes back, and the earlier image is out. */
    async fail() {
      now += 30_000;
      report({ ...rolloutOf({ updated: 1 }), deadlineExceeded: { message: 'timed out progressing.', at: new Date(now).toISOString() } });
      await check();
      if (onFailure === 'Hold') return;
      assert.deepEqual(world.images(), [`${image}:1.2.3`]);
      report(rolledOut);
      await check();
    },
    async waitOver() {
      const job = waitJob(policyOf()) ?? assert.fail('nothing is awaited');
      now = Date.parse(job.wait?.at ?? '') + 1_000;
      await processTask(job, contextOf(), world.ports);
    },
    async release() {
      now += 1_000;
      const policy = policyOf();
      world.put({ ...policy, actions: { ...policy.actions, release: toSeconds(new Date(now)) } });
      const job = actionJob(policyOf()) ?? assert.fail('the release asks for nothing');
      const { namespace, name, uid } = policy;
      const receivedAt = new Date(now).toISOString();
      await processTask({ schema: 1, policy: { namespace, name, uid }, receivedAt, ...job }, contextOf(), world.ports);
    },
    async look() {
      const { namespace, name, uid, generation } = policyOf();
      const receivedAt = new Date(now).toISOString();
      await processTask(
        { schema: 1, policy: { namespace, name, uid }, generation, source: 'Poll', cause: `look:${now}`, receivedAt },
        contextOf(),
        world.ports,
      );
    },
    now: () => now,
  };
}

test('an image whose pods cannot be scheduled is rolled back without being rejected, and the status says when it is retried', async () => {
  const { world, status, fail, look } = failingWorld();
  await fail();
  const told = () => {
    const { rejected, waiting, conditions } = status();
    assert.equal(rejected, undefined);
    assert.deepEqual([waiting?.tag, waiting?.digest, waiting?.reason], ['1.3.0', digestOf('b'), 'RolloutRetry']);
    assert.deepEqual(conditionLines(world), ['Ready=False RolloutRetry', 'Reconciling=True RolloutRetry']);
    const message = conditions?.[0]?.message ?? '';
    assert.ok(message.includes(waiting?.until ?? 'a time') && message.includes(nodes) && message.includes('release'), message);
    return waiting?.until;
  };
  const until = told();
  const { history = [] } = status();
  assert.deepEqual(historyLines(world), ['Rollback RolledOut', 'Webhook RolledBack']);
  assert.deepEqual([history[1]?.failure?.against, history[1]?.failure?.reason], ['cluster', 'ProgressDeadlineExceeded']);
  const event = world.events.find(({ reason }) => reason === 'RolledBack')?.message ?? '';
  assert.ok(event.includes(nodes) && event.includes(`${until} (1 of 3)`) && event.includes('image-watcher release shop/web'), event);
  await look();
  assert.equal(told(), until, 'a reconcile finds the same on the workload');
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('such a rolled back image is retried with growing pauses, then held until a release, an edit or a newer image', async () => {
  const { world, policyOf, status, fail, waitOver, release, look } = failingWorld();
  for (const pauseMs of retryPausesMs) {
    await fail();
    const back = Date.parse(status().history?.find(({ trigger }) => trigger === 'Rollback')?.at ?? '');
    assert.equal(Date.parse(status().waiting?.until ?? '') - back, pauseMs);
    await waitOver();
    assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  }
  await fail();
  const held = () => {
    assert.deepEqual(conditionLines(world), ['Ready=False RetriesExhausted', 'Stalled=True RetriesExhausted']);
    assert.deepEqual([status().waiting, status().rejected], [undefined, undefined]);
    assert.ok(status().conditions?.[0]?.message.includes(nodes));
  };
  held();
  await look();
  held();
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);

  await release();
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  await fail();
  assert.equal(status().waiting?.reason, 'RolloutRetry', 'after a release, the tries begin anew');

  const policy = policyOf();
  world.put({ ...policy, generation: policy.generation + 1 });
  await look();
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  await fail();
  world.tags.set('1.4.0', digestOf('d'));
  await look();
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
});

test('a retried image that is to blame for its failure is rejected, and one that comes up is recorded as rolled out', async () => {
  const { world, status, fail, waitOver, setPods } = failingWorld();
  await fail();
  await waitOver();
  setPods([{ ...runningPod(), startedAt: changeTime }]);
  await fail();
  assert.equal(status().rejected?.[0]?.digest, digestOf('b'));
  assert.deepEqual(conditionLines(world), ['Ready=False RejectedDigest', 'Stalled=True RejectedDigest']);
});

test('with onFailure: Hold an image whose pods cannot be scheduled stays without being rejected, with the message of its pod', async () => {
  const { world, status, fail } = failingWorld('Hold');
  await fail();
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  assert.equal(status().rejected, undefined);
  assert.deepEqual(conditionLines(world)?.[0], 'Ready=False RolloutFailed');
  assert.ok(status().conditions?.[0]?.message.includes(nodes));
});
