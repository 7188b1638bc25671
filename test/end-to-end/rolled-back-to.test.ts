/** What a policy rolled back to is its own: the next good image is applied, and the one that failed is not. */
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../harness/wait-for.ts';
import { startRolloutWorld, type RolloutWorld } from './rollout-world.ts';
import { assertPatchedTimes } from './world.ts';

describe('a policy that follows a mutable tag, with a workload that was rolled back to another one,', () => {
  let rollouts: RolloutWorld;
  before(async () => {
    rollouts = await startRolloutWorld();
  });
  after(() => rollouts.stop());

  /** A Deployment that is out with 1.2.0, and whose policy follows "latest", which is pushed already. */
  const create = async (name: string, rollout: { watch: false } | Record<string, never>) => {
    const { world, kubelet, image, push } = rollouts;
    const before = await push(name, '1.2.0');
    const first = await push(name, 'latest', `${name} first`);
    await world.createDeployment(name, image(name, '1.2.0'));
    await kubelet.becomesReady(name, image(name, '1.2.0'));
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'Latest' }, { rollout });
    await world.waitForImage(name, `${image(name, 'latest')}@${first}`);
    return { first, before };
  };

  it('updates the workload after a failed rollout', async () => {
    const { world, kubelet, image, push, announce, waitForReady, waitForResults } = rollouts;
    const { first: failed } = await create('job', {});
    await kubelet.cannotPull('job', `${image('job', 'latest')}@${failed}`, 'not found');
    await world.waitForImage('job', image('job', '1.2.0'));
    await waitForReady('job', 'RejectedDigest');

    await announce('job', 'latest', failed);
    await waitForReady('job', 'RejectedDigest');
    const repaired = await push('job', 'latest', 'job repaired');
    await announce('job', 'latest', repaired);
    assertPatchedTimes(await world.waitForImage('job', `${image('job', 'latest')}@${repaired}`), 3);
    await kubelet.becomesReady('job', `${image('job', 'latest')}@${repaired}`);
    await waitForReady('job', 'UpToDate');
    await waitForResults('job', 'latest Webhook RolledOut', '1.2.0 Rollback RolledOut', 'latest PolicyChange RolledBack');
  });

  it('updates the workload after a rollback that a user requested', async () => {
    const { world, image, push, announce, waitForReady } = rollouts;
    const { first: left, before: previous } = await create('asked', { watch: false });
    await waitFor('the change to be in the history', async () => (await world.readStatus('asked')).history?.length === 1);
    await world.annotate(world.policyPath('asked'), { 'operator.technomad.dev/rollback-to': 'previous' });
    await world.waitForImage('asked', `${image('asked', '1.2.0')}@${previous}`);
    await world.waitForCondition('asked', 'Held', 'RejectedDigest');
    await announce('asked', 'latest', left);

    const newer = await push('asked', 'latest', 'asked newer');
    await announce('asked', 'latest', newer);
    assertPatchedTimes(await world.waitForImage('asked', `${image('asked', 'latest')}@${newer}`), 3);
    await waitForReady('asked', 'UpToDate');
    await waitFor('nothing to be held', async () => (await world.condition('asked', 'Held')) === undefined);
  });

  it('does not replace what somebody else deployed', async () => {
    const { world, image, push, announce } = rollouts;
    await create('branch', { watch: false });
    await world.setImage('branch', image('branch', 'my-branch'));
    const newer = await push('branch', 'latest', 'branch newer');
    await announce('branch', 'latest', newer);
    await world.waitForCondition('branch', 'Stalled', 'NotComparable');
    assertPatchedTimes(await world.readDeployment('branch'), 2);
  });
});
