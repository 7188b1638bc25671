/** What a check of rollouts reads, also by a replica whose watch is behind the status. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { workloadOf } from '../../core/model/samples.ts';
import { changedWorkload, image, stuckRollout, withLastUpdate } from '../../core/rollout/rollout-samples.ts';
import { changedWorld, changeTime, conditionLines, historyLines, jobOf, reconcile } from './changed-world.ts';
import { contextOf, startTime, withPorts } from './world.ts';

test('a rollout in progress is checked by its pods, and again later', async () => {
  const world = changedWorld(withLastUpdate(changedWorkload(), { at: changeTime }));
  await reconcile(world);
  assert.deepEqual(world.requests, ['GET web', 'LIST pods of web']);
  assert.deepEqual(historyLines(world), ['Webhook Applied']);
  assert.equal(world.jobs.length, 1);
  assert.ok(Date.parse(world.jobs[0]?.notBefore ?? '') > startTime);
});

test('a rollout is evaluated by a workload that is as new as the status, even if the watch lags behind', async () => {
  const failed = withLastUpdate(changedWorkload(stuckRollout), { at: changeTime });
  const world = changedWorld(failed, { onFailure: 'Hold' });
  const held = ['Ready=False RolloutFailed', 'Stalled=True RolloutFailed', 'Held=True RolloutFailed'];
  await reconcile(world);
  assert.deepEqual(conditionLines(world), held);
  const before = workloadOf({ web: `${image}:1.2.3` });
  const lagging = withPorts(world.ports, {
    cluster: { findWorkload: () => before, listWorkloads: () => [before] },
  });
  await processTask({ ...jobOf(world), notBefore: changeTime }, contextOf(), lagging);
  assert.deepEqual(conditionLines(world), held);
});
