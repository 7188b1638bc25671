/** A push for a policy that was created after the watch of the policies had died silently: "no policy watches it" must not be final. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { startSilentRelay, type SilentRelay } from '../harness/silent-relay.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

describe('a replica whose watches died silently', () => {
  let world: World;
  let relay: SilentRelay;
  let service: Service;
  let kubeconfig: string;
  before(async () => {
    world = await startWorld();
    const { port } = new URL(world.cluster.server);
    relay = await startSilentRelay(Number(port));
    kubeconfig = join(tempFolder('relayed'), 'kubeconfig');
    writeFileSync(kubeconfig, readFileSync(world.kubeconfig, 'utf8').replaceAll(`:${port}`, `:${relay.port}`), { mode: 0o600 });
    service = await world.start({ kubeconfig });
  });
  after(async () => {
    await world.stop();
    relay.stop();
  });

  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = (name: string, tag: string) => pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: tag });
  const createPolicy = (name: string) => world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' });

  it('applies a push for a policy that its watch has not reported and another replica has reconciled', async () => {
    for (const name of ['known', 'unheard']) {
      await push(name, '1.0.0');
      await world.createDeployment(name, image(name, '1.0.0'));
    }
    // Its kind is watched, and so the other Deployment is known before the watches die.
    await createPolicy('known');
    await world.waitForFirstLook('known');
    const readyz = async () => (await fetch(`${service.operationsUrl}/readyz?verbose`)).text();
    await waitFor('the Deployments to be known', async () => /kubernetes deployments ok: 2 objects/.test(await readyz()));
    relay.swallow();
    const other = await world.start({ config: { redis: { url: world.redis.url, prefix: '{other}' } } });
    await createPolicy('unheard');
    await world.waitForFirstLook('unheard');
    await other.stop();
    await push('unheard', '2.0.0');
    assert.equal((await deliver(service, harborBody(world.quiet.host, 'shop/unheard', [{ tag: '2.0.0' }]))).status, 202);
    assertPatchedTimes(await world.waitForImage('unheard', image('unheard', '2.0.0')), 1);
  });

  it('applies a push also for a policy of which its watch reports only later', async () => {
    // The one of the other test is blind for minutes, because its watches of workloads are still silent.
    await service.stop();
    service = await world.start({ kubeconfig });
    await push('shared', '1.0.0');
    const shared = `${world.quiet.host}/shop/shared`;
    const create = (policy: string, deployment: string) =>
      world.createPolicy(policy, shared, { strategy: 'SemVer' }, { target: deployment });
    await world.createDeployment('heard', `${shared}:1.0.0`);
    await world.createDeployment('late', `${shared}:1.0.0`);
    await create('heard', 'heard');
    await world.waitForFirstLook('heard');
    relay.swallow();
    const other = await world.start({ config: { redis: { url: world.redis.url, prefix: '{another}' } } });
    await create('late', 'late');
    await world.waitForFirstLook('late');
    await other.stop();
    await push('shared', '2.0.0');
    assert.equal((await deliver(service, harborBody(world.quiet.host, 'shop/shared', [{ tag: '2.0.0' }]))).status, 202);
    await world.waitForImage('heard', `${shared}:2.0.0`);
    relay.release();
    assertPatchedTimes(await world.waitForImage('late', `${shared}:2.0.0`), 1);
  });
});
