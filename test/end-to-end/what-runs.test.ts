/** What a policy says of its targets is what they run, at once and whatever else is wrong, on a real API server and registry. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, startWorld, type World } from './world.ts';

const any = { strategy: 'SemVer' } as const;

describe('the status of a policy', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
    await announce(world.registry, await world.start());
  });
  after(() => world.stop());

  const push = (name: string, tag: string) =>
    pushImage({ host: world.registry.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
  const waitForRunning = (name: string, running: string) =>
    waitFor(`the status of ${name} to say that ${running} runs`, async () => {
      const status = await world.readStatus(name);
      return status.running === running && status;
    });
  /** A policy that has applied 1.1.0 and says so. */
  const applied = async (name: string) => {
    const repository = `${world.registry.host}/shop/${name}`;
    await push(name, '1.0.0');
    await world.createDeployment(name, `${repository}:1.0.0`);
    await world.createPolicy(name, repository, any);
    await world.waitForFirstLook(name);
    await push(name, '1.1.0');
    await waitForRunning(name, '1.1.0');
    return repository;
  };

  it('shows an older image that somebody sets and the policy holds', async () => {
    const repository = await applied('older');
    await world.setImage('older', `${repository}:1.0.0`);
    const { conditions = [], targets } = await waitForRunning('older', '1.0.0');
    assert.equal(targets?.[0]?.image, `${repository}:1.0.0`);
    assert.equal(conditions.find(({ type }) => type === 'Ready')?.reason, 'Held');
  });

  it('shows a newer image that somebody sets', async () => {
    const repository = await applied('newer');
    await world.setImage('newer', `${repository}:1.2.0`);
    const { conditions = [] } = await waitForRunning('newer', '1.2.0');
    assert.match(conditions.find(({ type }) => type === 'Ready')?.message ?? '', /1\.2\.0/);
  });

  it('shows that a target is gone', async () => {
    await applied('gone');
    await world.cluster.request('DELETE', world.deploymentPath('gone'));
    await world.waitForCondition('gone', 'Stalled', 'TargetNotFound');
    assert.equal((await world.readStatus('gone')).running, '<none>');
  });

  it('shows the image that runs after a rollback that a user requests', async () => {
    await applied('back');
    await world.annotate(world.policyPath('back'), { 'operator.technomad.dev/rollback-to': 'previous' });
    await waitForRunning('back', '1.0.0');
  });

  it('shows the image that runs while the policy is suspended, also when the image changes', async () => {
    const repository = await applied('suspended');
    await world.patchPolicy('suspended', { suspend: true });
    await world.waitForCondition('suspended', 'Ready', 'Suspended');
    await world.setImage('suspended', `${repository}:1.0.0`);
    await waitForRunning('suspended', '1.0.0');
    assert.equal((await world.condition('suspended', 'Ready'))?.reason, 'Suspended');
  });

  it('shows the image that runs while the policy is invalid, also when the image changes', async () => {
    const repository = `${world.registry.host}/shop/unusable`;
    await push('unusable', '1.0.0');
    await world.createDeployment('unusable', `${repository}:1.0.0`);
    await world.createPolicy('unusable', repository, { strategy: 'Regex', pattern: '(' });
    await world.waitForCondition('unusable', 'Stalled', 'InvalidTagPolicy');
    await waitForRunning('unusable', '1.0.0');
    await world.setImage('unusable', `${repository}:0.9.0`);
    await waitForRunning('unusable', '0.9.0');
  });

  it('shows the image that runs while the registry is unreachable or has no selected tag, also when the image changes', async () => {
    const repositories = { unreachable: '127.0.0.1:1/shop/web', unmatched: `${world.registry.host}/shop/unmatched` };
    await push('unmatched', 'main');
    for (const [name, repository] of Object.entries(repositories)) {
      await world.createDeployment(name, `${repository}:1.0.0`);
      await world.createPolicy(name, repository, any);
      const { conditions = [] } = await waitForRunning(name, '1.0.0');
      assert.equal(conditions.find(({ type }) => type === 'Ready')?.status, 'False');
      await world.setImage(name, `${repository}:0.9.0`);
      await waitForRunning(name, '0.9.0');
    }
  });
});
