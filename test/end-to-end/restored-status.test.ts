/** A policy that was restored from a backup: its generation begins anew, and its status is that of another life. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { startWorld, type World } from './world.ts';

describe('a status whose observed generation does not exist yet', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('does not prevent the service from writing a new status', async () => {
    const repository = `${world.quiet.host}/shop/restored`;
    await pushImage({ host: world.quiet.host, repository: 'shop/restored', tag: '1.0.0', content: '1.0.0' });
    await world.createDeployment('restored', `${repository}:1.0.0`);
    await world.createPolicy('restored', repository, { strategy: 'SemVer' });
    const status = { observedGeneration: 99, lastCheckTime: '2026-01-01T00:00:00Z' };
    await world.cluster.request('PATCH', `${world.policyPath('restored')}/status`, { status }, 'application/merge-patch+json');
    await world.start();
    await world.waitForCondition('restored', 'Ready', 'UpToDate');
    assert.equal((await world.readStatus('restored')).observedGeneration, 1);
  });
});
