/** An image that was rejected for its rollout, and rolls out after all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedWorkload, rolledOut, stuckRollout } from '../../core/rollout/rollout-samples.ts';
import { changedWorld, conditionLines, reconcile } from './changed-world.ts';

test('an image that rolls out after all is followed by a look at the workloads that it was kept from', async () => {
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
