/** The record of a push says what it did, also when the worker could not write the status, or died between the patch and the status. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connectWorker, type RedisConnection } from '../../src/service/queue/connection.ts';
import { eventKeys, readHash } from '../../src/service/queue/event-record.ts';
import { startKubeProxy, type KubeProxy } from '../harness/kube-proxy.ts';
import { pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

describe('the record of a push', () => {
  let world: World;
  let proxy: KubeProxy;
  let service: Service;
  let connection: RedisConnection;
  before(async () => {
    world = await startWorld();
    proxy = await startKubeProxy(world.cluster, world.kubeconfig);
    const tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, 'first');
    proxy.tokens.add('first');
    service = await world.start({ kubeconfig: writeKubeconfig(proxy.server, { tokenFile }) });
    connection = connectWorker(world.redis.url);
  });
  after(async () => {
    connection.disconnect();
    await world.stop();
    await proxy.stop();
  });

  const push = (name: string, tag: string) => pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: tag });
  const imageOf = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  /** A policy whose workload runs 1.0.0, and a registry that has 1.0.1. */
  const prepare = async (name: string): Promise<string> => {
    await push(name, '1.0.0');
    await world.createDeployment(name, imageOf(name, '1.0.0'));
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' });
    await world.waitForFirstLook(name);
    await push(name, '1.0.1');
    return name;
  };
  const send = async (name: string): Promise<string> => {
    const { accepted } = await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag: '1.0.1' }]));
    return accepted[0]?.id ?? '';
  };
  const resultOf = async (id: string, name: string) => {
    const record = readHash(await connection.hgetall(eventKeys('{image-watcher}').hash(id)));
    return record?.state === 'matched' ? record.results.get(`${world.namespace}/${name}`) : undefined;
  };
  const waitUntilDone = (id: string) =>
    waitFor('the job of the push to be done', async () => (await connection.zscore('{image-watcher}:push:completed', id)) !== null);
  const statusWrites = (name: string) => ({ method: 'PATCH', path: new RegExp(`imagepolicies/${name}/status`), times: 1_000_000 });
  const assertUpdated = async (id: string, name: string) => {
    const { kind, changes = [] } = (await resultOf(id, name)) ?? {};
    assert.deepEqual([kind, changes.map(({ from, to }) => [from, to])], ['updated', [[imageOf(name, '1.0.0'), imageOf(name, '1.0.1')]]]);
    assertPatchedTimes(await world.readDeployment(name), 1);
    assert.equal((await world.readStatus(name)).history?.length, 1);
  };

  it('stays "updated" while the status cannot be written, and afterwards', async () => {
    const name = await prepare('unwritten');
    proxy.spoil({ status: 500 }, statusWrites(name));
    const id = await send(name);
    await world.waitForImage(name, imageOf(name, '1.0.1'));
    const jobKey = `{image-watcher}:push:${id}`;
    await waitFor('a second try', async () => Number(await connection.hget(jobKey, 'atm')) > 0);
    const first = await resultOf(id, name);
    assert.equal(first?.kind, 'updated');
    proxy.heal();
    await waitUntilDone(id);
    await assertUpdated(id, name);
    const last = await resultOf(id, name);
    assert.deepEqual([last?.afterMs, last?.verifiedMs], [first?.afterMs, first?.verifiedMs]);
  });

  it('is not needed for a rollback to "previous", which undoes a change whose status could not be written', async () => {
    const name = await prepare('rolled-back');
    await waitUntilDone(await send(name));
    await push(name, '1.0.2');
    proxy.spoil({ status: 500 }, statusWrites(name));
    await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag: '1.0.2' }]));
    await world.waitForImage(name, imageOf(name, '1.0.2'));
    const countWrites = () =>
      proxy.requests.filter((request) => request.startsWith('PATCH') && request.includes(`imagepolicies/${name}/status`)).length;
    const written = countWrites();
    await world.annotate(world.policyPath(name), { 'operator.technomad.dev/rollback-to': 'previous' });
    await waitFor('another status to be refused', () => countWrites() > written);
    proxy.heal();
    await world.waitForImage(name, imageOf(name, '1.0.1'));
    const request = 'after the rollback';
    await world.annotate(world.policyPath(name), { 'operator.technomad.dev/requested-at': request });
    await waitFor('the check', async () => (await world.readStatus(name)).lastHandledRequest === request);
    const { history = [], rejected = [], lastAppliedTag } = await world.readStatus(name);
    assert.deepEqual(
      [history.map(({ to }) => to), rejected.map(({ tag }) => tag), lastAppliedTag],
      [['1.0.1', '1.0.2', '1.0.1'].map((tag) => imageOf(name, tag)), ['1.0.2'], '1.0.1'],
    );
    assertPatchedTimes(await world.readDeployment(name), 3);
  });

  it('is "updated" when the worker died between the patch and the status', async () => {
    const name = await prepare('killed');
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    proxy.spoil({ after: held }, statusWrites(name));
    const id = await send(name);
    await world.waitForImage(name, imageOf(name, '1.0.1'));
    await service.kill9();
    // As if it had died before Redis had the record, too.
    await connection.hdel(eventKeys('{image-watcher}').hash(id), `policy:${world.namespace}/${name}`);
    proxy.heal();
    await service.restart();
    await waitUntilDone(id);
    await assertUpdated(id, name);
    release();
  });
});
