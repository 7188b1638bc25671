/** An image that was rejected for its rollout, and rolls out after all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedWorkload, rolledOut, stuckRollout } from '../../core/rollout/rollout-samples.ts';
import { changedWorld, conditionLines, reconcile } from './changed-world.ts';

test('after a rejected image has rolled out in the end, a job checks the workloads that did not get it', async () => {
  const world = changedWorld(changedWorkload(stuckRollout), { onFailure: 'Hold' });
  await reconcile(world);
  world.workloads.set('Deployment/shop/web', changedWorkload(rolledOut));
  await reconcile(world);
  assert.deepEqual([world.statusOf('web').rejected ?? [], conditionLines(world)], [[], ['Ready=True UpToDate']]);
  assert.deepEqual(
    world.jobs.map(({ cause }) => cause.split(':')[0]),
    ['outdated'],
  );
});
