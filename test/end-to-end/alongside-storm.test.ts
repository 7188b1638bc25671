/** An application and its sidecar, pushed two hundred times in random order, while everything is killed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../harness/wait-for.ts';
import { createRandom } from '../simulation/random.ts';
import { bodyOf, createPair, pushPart, waitForBoth, watchPair, type Part } from './alongside-world.ts';
import { assertPatchedTimes, deliverUntilAccepted, startWorld, type Service, type World } from './world.ts';

/** How many versions are pushed. */
const versions = 200;

describe('images alongside', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it(`never run a mixed pair over ${versions} versions that are pushed in random order, while receiver and workers are killed`, async () => {
    const receiver = await world.start({ roles: 'receive' });
    const workers: Service[] = [await world.start({ roles: 'work' }), await world.start({ roles: 'work' })];
    await createPair(world, 'pair');
    const watched = await watchPair(world.cluster, world.deploymentPath('pair'));
    const random = createRandom(41);
    for (let version = 1; version <= versions; version++) {
      const tag = `1.0.${version}`;
      const order: Part[] = random.chance(0.5) ? ['own', 'sidecar'] : ['sidecar', 'own'];
      for (const [index, part] of order.entries()) {
        const digest = await pushPart(world, 'pair', part, tag);
        await deliverUntilAccepted(bodyOf(world, 'pair', part, { tag, digest }), receiver);
        const isKilled = random.chance(0.03);
        const service = random.chance(0.2) ? receiver : workers[version % workers.length];
        if (isKilled) await service?.kill9();
        // Between both pushes, the first one may have been looked at, or not.
        if (index === 0 && part === 'own' && random.chance(0.1) && !isKilled)
          await waitFor('the first to wait', async () => (await world.readStatus('pair')).waiting?.tag === tag);
        if (isKilled) await service?.restart();
      }
      await waitForBoth(world, 'pair', tag);
    }
    const deployment = await waitForBoth(world, 'pair', `1.0.${versions}`);
    assertPatchedTimes(deployment, versions);
    await waitFor('the watch to show the last state', () => watched.tags.has(deployment.metadata.generation));
    watched.stop();
    assert.equal(watched.error, undefined);
    assert.deepEqual(
      [...watched.tags.values()].filter(([own, sidecar]) => own !== sidecar),
      [],
    );
    assert.equal(watched.tags.size, versions + 1, 'each version is one generation');
    await Promise.all([receiver, ...workers].map((service) => service.stop()));
  });
});
