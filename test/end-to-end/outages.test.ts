import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { type OwnControlPlane, startControlPlane } from '../harness/control-plane.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { createFleet, eachOf } from './fleet.ts';
import {
  announce,
  assertPatchedTimes,
  deliver,
  deliverOnce,
  deliverUntilAccepted,
  harborBody,
  startWorld,
  type Service,
  type World,
} from './world.ts';

describe('outages', () => {
  let cluster: OwnControlPlane;
  let world: World;
  before(async () => {
    cluster = await startControlPlane({ fsync: false });
    world = await startWorld({ cluster });
  });
  after(() => world.stop());

  const prepare = async (name: string, extra: Pick<Spec, 'poll'> = {}) => {
    const { host } = world.quiet;
    await pushImage({ host, repository: `shop/${name}`, tag: '1.0.0' });
    await world.createDeployment(name, `${host}/shop/${name}:1.0.0`);
    await world.createPolicy(name, `${host}/shop/${name}`, { strategy: 'SemVer' }, extra);
  };
  const pushNext = (name: string, tag = '1.0.1') => pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: tag });
  const imageOf = (name: string, tag = '1.0.1') => `${world.quiet.host}/shop/${name}:${tag}`;
  const bodyOf = (name: string, tag = '1.0.1') => harborBody(world.quiet.host, `shop/${name}`, [{ tag }]);
  const readyz = async (service: Service, query = '') => {
    const response = await fetch(`${service.operationsUrl}/readyz${query}`);
    return { status: response.status, text: await response.text() };
  };

  it('a webhook that never arrived: the poll finds the push', async () => {
    const service = await world.start();
    // Every tick is a turn.
    await prepare('polled', { poll: { interval: '1s' } });
    await world.waitForFirstLook('polled');
    await pushNext('polled');
    assertPatchedTimes(await world.waitForImage('polled', imageOf('polled')), 1);
    await waitFor('the change to be counted', async () => {
      const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
      return /image_watcher_workload_changes_total\{kind="Deployment",source="Poll"\} 1/.test(metrics);
    });
    await service.stop();
  });

  it('Redis down at the start: not ready and 503 until it is up, and everything works then', async () => {
    await world.redis.kill9();
    const service = await world.start({ untilReady: false });
    const answer = await waitFor('the listener', async () => {
      const answer = await readyz(service, '?verbose');
      return answer.text.includes('[+]public listener ok') && answer;
    });
    assert.equal(answer.status, 503);
    assert.match(answer.text, /\[-\]redis failed/);
    assert.equal((await fetch(`${service.operationsUrl}/livez`)).status, 200);
    assert.equal((await deliverOnce(service, bodyOf('anything'))).status, 503);

    await world.redis.restart();
    await waitFor('the service to be ready', async () => (await readyz(service)).status === 200);
    await prepare('after-redis');
    await world.waitForFirstLook('after-redis');
    await pushNext('after-redis');
    assert.equal((await deliver(service, bodyOf('after-redis'))).status, 202);
    await world.waitForImage('after-redis', imageOf('after-redis'));
    await service.stop();
  });

  it('Redis hangs: 503 with Retry-After, and the service recovers with it', async () => {
    const service = await world.start();
    await prepare('frozen');
    await world.waitForFirstLook('frozen');
    await pushNext('frozen');
    world.redis.freeze();
    const refused = await fetch(`${service.publicUrl}/webhooks/harbor`, {
      method: 'POST',
      headers: { Authorization: 'end-to-end-secret' },
      body: bodyOf('frozen'),
    });
    assert.equal(refused.status, 503);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    world.redis.thaw();
    await deliverUntilAccepted(bodyOf('frozen'), service);
    assertPatchedTimes(await world.waitForImage('frozen', imageOf('frozen')), 1);
    await service.stop();
  });

  it('API server down at the start: ready, reports it, accepts webhooks, and patches when it is up', async () => {
    await prepare('cold');
    await pushNext('cold');
    await cluster.apiServer.kill9();
    const service = await world.start({ untilReady: false });
    await waitFor('readiness, and the failed first list', async () => {
      const { status, text } = await readyz(service, '?verbose');
      return status === 200 && /\[!\]kubernetes policies failed: .*ECONNREFUSED/.test(text);
    });
    assert.equal((await deliver(service, bodyOf('cold'))).status, 202);
    await cluster.apiServer.restart();
    assertPatchedTimes(await world.waitForImage('cold', imageOf('cold')), 1);
    await service.stop();
  });

  it('API server goes down: webhooks are accepted during the outage, and take effect afterwards', async () => {
    const service = await world.start();
    await prepare('away');
    await world.waitForFirstLook('away');
    await pushNext('away');
    await cluster.apiServer.kill9();
    assert.equal((await deliver(service, bodyOf('away'))).status, 202);
    await waitFor('a try to have failed', async () => {
      const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
      return /image_watcher_reconciles_total\{source="Webhook",outcome="retrying",reason="Retrying"\} [1-9]/.test(metrics);
    });
    await cluster.apiServer.restart();
    assertPatchedTimes(await world.waitForImage('away', imageOf('away')), 1);
    await service.stop();
  });

  it('SIGTERM during the work: nothing is lost, and the other replica completes what was accepted', async () => {
    const [leaving, staying] = [await world.start(), await world.start()];
    const fleet = await createFleet(world, 'term', 60);
    const burst = eachOf(fleet.deliveries, (body) => deliverUntilAccepted(body, leaving, staying));
    await waitFor('the burst to be under way', async () => (await fleet.countPatched()) > 3, { intervalMs: 5 });
    const stopped = leaving.stop();
    await burst;
    await stopped;
    assert.match(leaving.logTail(3), /"msg":"stopped"/);
    await fleet.assertPatchedOnce();
    await staying.stop();
  });

  it('registry restarts: its pushes are announced again', async () => {
    const service = await world.start();
    await announce(world.registry, service);
    const { host } = world.registry;
    await pushImage({ host, repository: 'shop/again', tag: '1.0.0' });
    await world.createDeployment('again', `${host}/shop/again:1.0.0`);
    await world.createPolicy('again', `${host}/shop/again`, { strategy: 'SemVer' });
    await world.waitForFirstLook('again');
    await world.registry.kill9();
    await world.registry.restart();
    await pushImage({ host, repository: 'shop/again', tag: '1.0.1', content: 'new' });
    await world.waitForImage('again', `${host}/shop/again:1.0.1`);
    await service.stop();
  });
});
