/** A workload that is being deleted, and waits for a finalizer, is left alone. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

describe('a target that is being deleted', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld();
    service = await world.start();
  });
  after(async () => {
    for (const name of ['leaving', 'leaving-beside'])
      await world.cluster.request('PATCH', world.deploymentPath(name), { metadata: { finalizers: null } }, 'application/merge-patch+json');
    await world.stop();
  });

  const image = (tag: string) => `${world.quiet.host}/shop/leaving:${tag}`;

  it('is not changed, which the policy reports, and other targets of the policy are changed', async () => {
    await pushImage({ host: world.quiet.host, repository: 'shop/leaving', tag: '1.0.0', content: '1' });
    for (const name of ['leaving', 'leaving-beside', 'staying']) {
      await world.createDeployment(name, image('1.0.0'));
      const metadata = { labels: { uses: 'leaving' }, ...(name !== 'staying' && { finalizers: ['example.com/wait'] }) };
      await world.cluster.request('PATCH', world.deploymentPath(name), { metadata }, 'application/merge-patch+json');
    }
    const targets = [
      { kind: 'Deployment', name: 'leaving' },
      { kind: 'Deployment', selector: { matchLabels: { uses: 'leaving' } } },
    ];
    await world.createPolicy('leaving', `${world.quiet.host}/shop/leaving`, { strategy: 'SemVer' }, { targets });
    await world.waitForFirstLook('leaving');
    for (const name of ['leaving', 'leaving-beside']) await world.cluster.request('DELETE', world.deploymentPath(name));
    const told = await waitFor('the deletion to be told', async () => {
      const ready = await world.condition('leaving', 'Ready');
      return ready?.message.includes('is being deleted') && ready;
    });
    assert.equal(told.reason, 'TargetNotFound');
    await pushImage({ host: world.quiet.host, repository: 'shop/leaving', tag: '1.0.1', content: '2' });
    const answer = await deliver(service, harborBody(world.quiet.host, 'shop/leaving', [{ tag: '1.0.1' }]));
    assert.equal(answer.status, 202);
    await world.waitForImage('staying', image('1.0.1'));
    const status = await waitFor('the push to be told', async () => {
      const found = await world.readStatus('leaving');
      return found.latest?.tag === '1.0.1' && found;
    });
    assert.deepEqual([status.targetCounts?.upToDate, status.history?.map(({ name }) => name)], [1, ['staying']]);
    for (const name of ['leaving', 'leaving-beside']) {
      const deployment = await world.readDeployment(name);
      assert.equal(deployment.spec.template.spec.containers[0]?.image, image('1.0.0'));
      assertPatchedTimes(deployment, 1);
    }
  });
});
