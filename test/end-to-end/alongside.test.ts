/** An application and its sidecar, in repositories of their own: they change together, or not at all. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { imageListAnnotation } from '../../src/core/model/image-list.ts';
import { actionAnnotations } from '../../src/core/model/policy-actions.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { bodyOf, createPair, partsOf, pushPart, tagsOf, waitForBoth } from './alongside-world.ts';
import { assertPatchedTimes, deliver, startWorld, type World } from './world.ts';

describe('images alongside', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('wait for a missing image with a reason, pass over the incomplete set in time, and apply it when the image arrives', async () => {
    const service = await world.start();
    const { host } = world.quiet;
    const alongside = { images: [{ image: `${host}/${partsOf('late').sidecar}` }], within: '2s' };
    await createPair(world, 'late', { alongside });
    const digest = await pushPart(world, 'late', 'own', '1.1.0');
    await deliver(service, bodyOf(world, 'late', 'own', { tag: '1.1.0', digest }));
    await waitFor('the image to be missed', async () => (await world.readStatus('late')).incomplete?.[0]?.tag === '1.1.0');
    assert.deepEqual((await world.readStatus('late')).incomplete?.[0]?.missing, [`${host}/${partsOf('late').sidecar}:1.1.0`]);
    await waitFor('it to be passed over', async () => {
      const { waiting, conditions } = await world.readStatus('late');
      return waiting === undefined && conditions?.some(({ message }) => message.includes('passed over: 1.1.0 has come without'));
    });
    assert.deepEqual(tagsOf(await world.readDeployment('late')), ['1.0.0', '1.0.0']);
    const other = await pushPart(world, 'late', 'sidecar', '1.1.0');
    await deliver(service, bodyOf(world, 'late', 'sidecar', { tag: '1.1.0', digest: other }));
    assertPatchedTimes(await waitForBoth(world, 'late', '1.1.0'), 1);
    await service.stop();
  });

  it('are approved as a set, and rolled back together', async () => {
    const service = await world.start();
    await createPair(world, 'asked', { update: { mode: 'Approval' } });
    const digests: string[] = [];
    for (const part of ['own', 'sidecar'] as const) {
      const digest = await pushPart(world, 'asked', part, '1.1.0');
      digests.push(digest);
      await deliver(service, bodyOf(world, 'asked', part, { tag: '1.1.0', digest }));
    }
    const pending = await waitFor('both to wait for approval', async () => (await world.readStatus('asked')).pendingApproval);
    const { own, sidecar } = partsOf('asked');
    const { host } = world.quiet;
    assert.deepEqual(pending.images, [`${host}/${own}@${digests[0]}`, `${host}/${sidecar}@${digests[1]}`]);
    await world.annotate(world.policyPath('asked'), { [actionAnnotations.approve]: `1.1.0@${pending.digest}` });
    assertPatchedTimes(await waitForBoth(world, 'asked', '1.1.0'), 1);
    await waitFor('the change to be told', async () => (await world.readStatus('asked')).history?.length === 1);
    await world.annotate(world.policyPath('asked'), { [actionAnnotations.rollbackTo]: 'previous' });
    assertPatchedTimes(await waitForBoth(world, 'asked', '1.0.0'), 2);
    const { history } = await waitFor('the rollback to be told', async () => {
      const status = await world.readStatus('asked');
      return status.history?.[0]?.trigger === 'Rollback' && status;
    });
    assert.deepEqual(
      history?.map(({ trigger, alongside = [] }) => [trigger, alongside.map(({ from, to }) => [from, to])]),
      [
        ['Rollback', [[`${host}/${sidecar}:1.1.0`, `${host}/${sidecar}:1.0.0`]]],
        ['Approval', [[`${host}/${sidecar}:1.0.0`, `${host}/${sidecar}:1.1.0`]]],
      ],
    );
    await service.stop();
  });

  it('are found by the list that one image carries, whichever is pushed first, and changed in one patch', async () => {
    const service = await world.start();
    const { host } = world.quiet;
    for (const first of ['own', 'sidecar'] as const) {
      const name = `listed-${first}`;
      const { own, sidecar } = partsOf(name);
      await createPair(world, name, { alongside: { images: [{ image: `${host}/${sidecar}` }], match: 'SameDigestList' } });
      const push = { tag: 'build-7', content: `${name} sidecar` };
      // As a pipeline that has built both and pushed neither knows it: the same bytes have the same digest.
      const { digest } = await pushImage({ host, repository: `built/${sidecar}`, ...push });
      const listed = `${host}/${sidecar}:build-7@${digest}`;
      const pushes = {
        own: async () => {
          const annotations = { [imageListAnnotation]: `${host}/shop/other:1@${digest}, ${listed}` };
          const pushed = await pushImage({ host, repository: own, tag: '1.1.0', content: `${name} own`, annotations });
          await deliver(service, bodyOf(world, name, 'own', { tag: '1.1.0', digest: pushed.digest }));
        },
        sidecar: async () => {
          await pushImage({ host, repository: sidecar, ...push });
          await deliver(service, bodyOf(world, name, 'sidecar', { tag: 'build-7', digest }));
        },
      };
      await pushes[first]();
      if (first === 'own')
        await waitFor('the listed image to be missed', async () => {
          const { incomplete = [] } = await world.readStatus(name);
          return incomplete.some(({ tag, missing }) => tag === '1.1.0' && missing.join() === listed);
        });
      assert.deepEqual(tagsOf(await world.readDeployment(name)), ['1.0.0', '1.0.0']);
      await pushes[first === 'own' ? 'sidecar' : 'own']();
      const changed = await waitFor('both to be changed', async () => {
        const deployment = await world.readDeployment(name);
        return tagsOf(deployment).join() === '1.1.0,build-7' && deployment;
      });
      assertPatchedTimes(changed, 1);
      const { latest } = await waitFor('the change to be told', async () => {
        const status = await world.readStatus(name);
        return status.history?.length === 1 && status;
      });
      assert.deepEqual(latest?.companions, [{ image: `${host}/${sidecar}`, tag: 'build-7', digest }]);
    }
    await service.stop();
  });
});
