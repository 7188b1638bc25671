import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { createFleet, eachOf } from './fleet.ts';
import { assertPatchedTimes, deliver, deliverUntilAccepted, harborBody, startWorld, type Service, type World } from './world.ts';

describe('kill -9', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('of the service between the 202 and the patch loses nothing', async () => {
    const { host } = world.quiet;
    const service = await world.start();
    await pushImage({ host, repository: 'shop/killed', tag: '1.0.0' });
    await world.createDeployment('killed', `${host}/shop/killed:1.0.0`);
    await world.createPolicy('killed', `${host}/shop/killed`, { strategy: 'SemVer' });
    await world.waitForFirstLook('killed');
    await pushImage({ host, repository: 'shop/killed', tag: '1.0.1', content: 'new' });

    // The registry hangs, so the job cannot get to its patch.
    world.quiet.freeze();
    const answer = await deliver(service, harborBody(host, 'shop/killed', [{ tag: '1.0.1' }]));
    assert.equal(answer.status, 202);
    await service.kill9();
    world.quiet.thaw();
    assertPatchedTimes(await world.readDeployment('killed'), 0);

    await service.restart();
    assertPatchedTimes(await world.waitForImage('killed', `${host}/shop/killed:1.0.1`), 1);
    await service.stop();
  });

  it('of a lone receiver loses nothing, and a worker that starts later does the work', async () => {
    const { host } = world.quiet;
    await pushImage({ host, repository: 'shop/apart', tag: '1.0.0' });
    await pushImage({ host, repository: 'shop/apart', tag: '1.0.1', content: 'new' });
    const receiver = await world.start({ roles: 'receive' });
    const answer = await deliver(receiver, harborBody(host, 'shop/apart', [{ tag: '1.0.1' }]));
    assert.equal(answer.status, 202);
    await receiver.kill9();
    await world.createDeployment('apart', `${host}/shop/apart:1.0.0`);
    await world.createPolicy('apart', `${host}/shop/apart`, { strategy: 'SemVer' });
    const worker = await world.start({ roles: 'work' });
    assertPatchedTimes(await world.waitForImage('apart', `${host}/shop/apart:1.0.1`), 1);
    await worker.stop();
  });

  it('of Redis in a burst of 200 accepted pushes loses none', async () => {
    const service = await world.start();
    const fleet = await createFleet(world, 'burst', 200);
    const burst = eachOf(fleet.deliveries, (body) => deliverUntilAccepted(body, service));
    await waitFor('the burst to be under way', async () => (await fleet.countPatched()) > 10, { intervalMs: 5 });
    await world.redis.kill9();
    await world.redis.restart();
    await burst;
    await fleet.assertPatchedOnce();
    await service.stop();
  });

  it('of workers again and again loses nothing and repeats nothing', async () => {
    const receiver = await world.start({ roles: 'receive' });
    const workers: Service[] = [await world.start({ roles: 'work' }), await world.start({ roles: 'work' })];
    const fleet = await createFleet(world, 'again', 200);
    const burst = eachOf(fleet.deliveries, (body) => deliverUntilAccepted(body, receiver));
    for (let kills = 0; kills < 10; kills++) {
      const before = await fleet.countPatched();
      if (before === fleet.size) break;
      await waitFor('some progress', async () => (await fleet.countPatched()) > before, { intervalMs: 5 });
      const worker = workers[kills % workers.length];
      await worker?.kill9();
      await worker?.restart();
    }
    await burst;
    await fleet.assertPatchedOnce();
    await Promise.all([receiver, ...workers].map((service) => service.stop()));
  });
});
