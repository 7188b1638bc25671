/** A replica whose clock is behind that of the controllers compares their times with those of the API server, and not with its own. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startKubeProxy, type KubeProxy } from '../harness/kube-proxy.ts';
import { pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { assertPatchedTimes, deliver, harborBody, secret, startWorld, type Service, type World } from './world.ts';

describe('a replica whose clock is a minute behind that of the controllers', () => {
  let world: World;
  let proxy: KubeProxy;
  let service: Service;
  before(async () => {
    world = await startWorld();
    proxy = await startKubeProxy(world.cluster, world.kubeconfig);
    proxy.tokens.add('token');
    const tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, 'token');
    const clock = pathToFileURL(join(import.meta.dirname, '../harness/skewed-clock.mjs')).href;
    const env = { NODE_OPTIONS: `--import=${clock}`, CLOCK_SKEW_MS: '-60000', WEBHOOK_SECRET: secret };
    service = await world.start({ kubeconfig: writeKubeconfig(proxy.server, { tokenFile }), env });
  });
  after(async () => {
    await world.stop();
    await proxy.stop();
  });

  it('does not take a deadline exceeded before its change for a failure of the image', async () => {
    const name = 'stuck';
    const image = (tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
    const push = (tag: string) => pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: tag });
    /** What the controller of Deployments writes. */
    const report = (observedGeneration: number, pods: number, progressing: object) => {
      const condition = { type: 'Progressing', message: 'as the controller says', ...progressing };
      const status = { observedGeneration, replicas: 1, updatedReplicas: pods, readyReplicas: pods, availableReplicas: pods };
      const body = { status: { ...status, conditions: [condition] } };
      return world.cluster.request('PATCH', `${world.deploymentPath(name)}/status`, body, 'application/merge-patch+json');
    };
    await push('1.0.0');
    await world.createDeployment(name, image('1.0.0'));
    const at = new Date().toISOString();
    const exceeded = { status: 'False', reason: 'ProgressDeadlineExceeded', lastUpdateTime: at, lastTransitionTime: at };
    await report(1, 0, exceeded);
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' }, { rollout: { onFailure: 'Rollback' } });
    await world.waitForFirstLook(name);
    await push('1.0.1');
    assert.equal((await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag: '1.0.1' }]))).status, 202);
    await world.waitForImage(name, image('1.0.1'));
    // It keeps the condition until there is progress.
    await report(2, 0, exceeded);
    const seen = proxy.requests.length;
    await waitFor('the rollout to be checked', () => proxy.requests.slice(seen).some((one) => /^GET .*\/replicasets\?/.test(one)));
    await world.waitForIdleWorkers();
    assertPatchedTimes(await world.readDeployment(name), 1);
    await report(2, 1, { status: 'True', reason: 'NewReplicaSetAvailable', lastUpdateTime: at, lastTransitionTime: at });
    const result = await waitFor('the result of the rollout', async () => {
      const [last] = (await world.readStatus(name)).history ?? [];
      return last?.result !== 'Applied' && last?.result;
    });
    assert.equal(result, 'RolledOut');
    assert.equal((await world.readStatus(name)).rejected, undefined);
    assertPatchedTimes(await world.readDeployment(name), 1);
  });
});
