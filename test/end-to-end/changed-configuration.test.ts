/** What the configuration denies a policy is permitted after a restart with another one, and the other way round, without an edit of the policy. */
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { startWorld, type World } from './world.ts';

describe('a restart with another configuration', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('allows registries and targets in other namespaces that were denied, and denies those that were allowed', async () => {
    const { host } = world.quiet;
    await pushImage({ host, repository: 'shop/web', tag: '1.0.0', content: 'one' });
    await world.createDeployment('web', `${host}/shop/web:1.0.0`);
    const otherNamespace = await world.cluster.namespace('other');
    const strict = { crossNamespace: 'deny', allowedRegistries: ['elsewhere.example.com'] };
    const first = await world.start({ config: strict });
    await world.createPolicy('web', `${host}/shop/web`, { strategy: 'SemVer' });
    await world.waitForCondition('web', 'Stalled', 'RegistryRefused');
    await first.stop();

    const second = await world.start({ config: { crossNamespace: 'deny' } });
    await world.waitForCondition('web', 'Ready', 'UpToDate');
    await world.createPolicy(
      'far',
      `${host}/shop/web`,
      { strategy: 'SemVer' },
      { targets: [{ kind: 'Deployment', name: 'web', namespace: otherNamespace }] },
    );
    await world.waitForCondition('far', 'Stalled', 'CrossNamespaceDenied');
    await second.stop();

    const third = await world.start({ config: { crossNamespace: 'allow' } });
    await world.waitForCondition('far', 'Stalled', 'TargetNotFound');
    await third.stop();

    await world.start({ config: strict });
    await world.waitForCondition('web', 'Stalled', 'RegistryRefused');
  });
});
