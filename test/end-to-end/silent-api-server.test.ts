/** Connections to the API server that die without a word, as with a node that crashes: what the watches do not report any more still counts. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { confirmedForMs } from '../../src/core/model/confirmation.ts';
import { pushImage } from '../harness/push-image.ts';
import { askRedis } from '../harness/redis.ts';
import { startSilentRelay, type SilentRelay } from '../harness/silent-relay.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

describe('a watch of the policies that died silently', () => {
  let world: World;
  let relay: SilentRelay;
  let service: Service;
  before(async () => {
    world = await startWorld();
    const { port } = new URL(world.cluster.server);
    relay = await startSilentRelay(Number(port));
    const kubeconfig = join(tempFolder('relayed'), 'kubeconfig');
    writeFileSync(kubeconfig, readFileSync(world.kubeconfig, 'utf8').replaceAll(`:${port}`, `:${relay.port}`), { mode: 0o600 });
    service = await world.start({ kubeconfig });
  });
  after(async () => {
    await world.stop();
    relay.stop();
  });

  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = (name: string, tag: string) => pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: tag });
  const checks = async () => (await fetch(`${service.operationsUrl}/readyz?verbose`)).text();
  const quietSeconds = async () => Number(/^\S+kubernetes policies.*quiet for (\d+) s/m.exec(await checks())?.[1] ?? 0);
  const deployments = async () => Number(/^\S+kubernetes deployments ok: (\d+) objects/m.exec(await checks())?.[1] ?? 0);
  const pushesAreOver = async () => {
    const commands = ['LLEN {image-watcher}:push:wait', 'LLEN {image-watcher}:push:active', 'ZCARD {image-watcher}:push:delayed'];
    const replies = await Promise.all(commands.map((command) => askRedis(world.redis.port, command)));
    return replies.every((reply) => reply.startsWith(':0'));
  };

  it('does not let the service act for a policy that was suspended, deleted or narrowed since', async () => {
    const names = ['suspended', 'deleted', 'narrowed', 'kept'];
    for (const name of names) {
      await push(name, '1.0.0');
      await world.createDeployment(name, image(name, '1.0.0'));
      await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' });
    }
    for (const name of names) await world.waitForFirstLook(name);
    for (const name of names) await push(name, '2.0.0');
    await push('created', '1.0.0');
    await world.createDeployment('created', image('created', '1.0.0'));
    // The watch of the Deployments dies as well, and nothing opens that one anew.
    await waitFor('the Deployment to be known', async () => (await deployments()) > names.length);
    relay.swallow();
    // What was heard a moment ago is believed; from here on nothing is heard.
    await waitFor('the watch of the policies to be quiet', async () => (await quietSeconds()) >= confirmedForMs / 1_000);
    await world.patchPolicy('suspended', { suspend: true });
    await world.cluster.request('DELETE', world.policyPath('deleted'));
    await world.patchPolicy('narrowed', { select: { semver: { range: '<2' } } });
    // What nobody is pushed for is reported by the watch that is opened in the place of the dead one.
    await world.createPolicy('created', `${world.quiet.host}/shop/created`, { strategy: 'SemVer' });
    for (const name of names)
      assert.equal((await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag: '2.0.0' }]))).status, 202);
    assertPatchedTimes(await world.waitForImage('kept', image('kept', '2.0.0')), 1);
    await waitFor('all pushes to be over', pushesAreOver);
    await world.waitForFirstLook('created');
    for (const name of ['suspended', 'deleted', 'narrowed']) assertPatchedTimes(await world.readDeployment(name), 0);
  });
});
