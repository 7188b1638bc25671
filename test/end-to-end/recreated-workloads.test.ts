/** A workload that is deleted and created anew is another one: nobody tampered with it, and no status speaks of the one before. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startWorld, type Service, type TagPolicy, type World } from './world.ts';

describe('a recreated workload', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld();
    service = await world.start();
  });
  after(() => world.stop());

  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = async (name: string, tag: string) =>
    (await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` })).digest;
  /** As `helm install` or `kubectl apply` would, which know 1.0.0. */
  const install = (name: string, manager: string) => {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: image(name, '1.0.0') }] } };
    const body = { metadata: { name }, spec: { selector: { matchLabels: labels }, template } };
    return world.cluster.request('POST', `${world.deploymentPath('').replace(/\/$/, '')}?fieldManager=${manager}`, body);
  };
  const uninstall = (name: string) => world.cluster.request('DELETE', world.deploymentPath(name));
  const create = async (name: string, manager: string, tagPolicy: TagPolicy, latest: string) => {
    await push(name, '1.0.0');
    const digest = await push(name, latest);
    await install(name, manager);
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, tagPolicy);
    const wanted = tagPolicy.strategy === 'Latest' ? `${image(name, latest)}@${digest}` : image(name, latest);
    await world.waitForImage(name, wanted);
    await waitForHistory(name, 1);
    return wanted;
  };
  const waitForHistory = (name: string, length: number) =>
    waitFor(`${length} changes in the history of ${name}`, async () => (await world.readStatus(name)).history?.length === length);

  for (const [name, manager, tagPolicy, latest] of [
    ['helm', 'helm', { strategy: 'SemVer' }, '1.1.0'],
    ['kubectl', 'kubectl-client-side-apply', { strategy: 'SemVer' }, '1.1.0'],
    ['mutable', 'helm', { strategy: 'Latest' }, 'latest'],
  ] as const)
    it(`recreated by ${manager} is updated to the image that ${tagPolicy.strategy} selects, however often`, async () => {
      const wanted = await create(name, manager, tagPolicy, latest);
      for (let times = 2; times <= 4; times++) {
        await uninstall(name);
        await install(name, manager);
        await world.waitForImage(name, wanted);
        await waitForHistory(name, times);
      }
      const ready = await world.waitForCondition(name, 'Ready', 'UpToDate');
      assert.ok(ready.message.includes(wanted), ready.message);
      assert.equal(await world.condition(name, 'Held'), undefined);
      const uids = new Set((await world.readStatus(name)).history?.map(({ uid }) => uid));
      assert.equal(uids.size, 4);
    });

  it('is not reported as running anything while it is gone, and is accepted when it returns with a newer image', async () => {
    await create('gone', 'helm', { strategy: 'SemVer' }, '1.1.0');
    await uninstall('gone');
    const targetNotFound = await world.waitForCondition('gone', 'Ready', 'TargetNotFound');
    assert.equal(targetNotFound.status, 'False');
    await push('gone', '1.2.0');
    await install('gone', 'helm');
    await world.setImage('gone', image('gone', '1.2.0'));
    await waitFor('the status to say what runs', async () => {
      const { conditions = [], targets } = await world.readStatus('gone');
      const isSaid = conditions.some(({ type, status, message }) => type === 'Ready' && status === 'True' && message.includes('1.2.0'));
      return isSaid && targets?.[0]?.image === image('gone', '1.2.0');
    });
  });

  it('is updated when it was recreated while the service was down', async () => {
    const wanted = await create('away', 'kubectl-client-side-apply', { strategy: 'SemVer' }, '1.1.0');
    await service.kill9();
    for (let times = 0; times < 3; times++) {
      await uninstall('away');
      await install('away', 'kubectl-client-side-apply');
    }
    await service.restart();
    await world.waitForImage('away', wanted);
    await waitForHistory('away', 2);
    await world.waitForCondition('away', 'Ready', 'UpToDate');
  });
});
