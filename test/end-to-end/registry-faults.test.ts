import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fakeImage, startFakeRegistry, type FakeAnswer, type FakeRegistry } from '../harness/fake-registry.ts';
import { eachOf } from './fleet.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

describe('a registry that is slow to become consistent', () => {
  let world: World;
  let fake: FakeRegistry;
  let broken: FakeRegistry;
  let service: Service;

  before(async () => {
    [world, fake, broken] = await Promise.all([startWorld(), startFakeRegistry(), startFakeRegistry()]);
    service = await world.start({ registryHosts: [fake.host, broken.host] });
  });
  after(async () => {
    await world.stop();
    await Promise.all([fake.stop(), broken.stop()]);
  });

  const watch = async (name: string, strategy: 'SemVer' | 'Latest', tag: string) => {
    fake.setTag(`shop/${name}`, tag, fakeImage('1'));
    await world.createDeployment(name, `${fake.host}/shop/${name}:${tag}${strategy === 'Latest' ? `@${fakeImage('1')}` : ''}`);
    await world.createPolicy(name, `${fake.host}/shop/${name}`, { strategy });
    await world.waitForFirstLook(name);
  };
  const announce = async (name: string, tag: string, digest?: string) => {
    const push = digest === undefined ? { tag } : { tag, digest };
    assert.equal((await deliver(service, harborBody(fake.host, `shop/${name}`, [push]))).status, 202);
  };

  for (const [name, said, digest] of [
    ['stale', 'said which digest is new', fakeImage('2')],
    ['stale-unsaid', 'named no digest, as Docker Hub and Quay do', undefined],
  ] as const) {
    it(`still shows the old digest of a mutable tag at first, and the sender ${said}: only the new digest is applied`, async () => {
      await watch(name, 'Latest', 'latest');
      fake.setTag(`shop/${name}`, 'latest', fakeImage('2'));
      fake.staleFor(`shop/${name}`, 'latest', fakeImage('1'), 5);
      await announce(name, 'latest', digest);
      const deployment = await world.waitForImage(name, `${fake.host}/shop/${name}:latest@${fakeImage('2')}`);
      assert.equal(deployment.metadata.generation, 2);
    });
  }

  it('is trusted when it keeps showing another digest than was announced', async () => {
    await watch('moved-on', 'Latest', 'latest');
    fake.setTag('shop/moved-on', 'latest', fakeImage('3'));
    await announce('moved-on', 'latest', fakeImage('2'));
    await world.waitForImage('moved-on', `${fake.host}/shop/moved-on:latest@${fakeImage('3')}`);
  });

  const tooMany: FakeAnswer = { status: 429, headers: { 'Retry-After': '1' } };
  for (const [what, answer, times] of [
    ['404', { status: 404 }, 3],
    ['500', { status: 500 }, 2],
    ['429 with Retry-After', tooMany, 2],
    ['429', { status: 429 }, 2],
    ['nothing: it resets the connection', { destroy: true }, 2],
  ] as const) {
    it(`answers ${what} at first: the workload is patched afterwards`, async () => {
      const name = `fault-${what.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}`;
      await watch(name, 'SemVer', '1.0.0');
      fake.setTag(`shop/${name}`, '1.0.1', fakeImage('2'));
      fake.answerNext(answer, { path: `/v2/shop/${name}/manifests/1.0.1`, times });
      await announce(name, '1.0.1', fakeImage('2'));
      await world.waitForImage(name, `${fake.host}/shop/${name}:1.0.1`);
    });
  }

  it('fails for hundreds of repositories: those on another host are not affected', async () => {
    const prepareAt = async ({ host, setTag }: FakeRegistry, prefix: string, count: number) => {
      const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
      await eachOf(names, async (name) => {
        setTag(`shop/${name}`, '1.0.0', fakeImage('1'));
        await world.createDeployment(name, `${host}/shop/${name}:1.0.0`);
        await world.createPolicy(name, `${host}/shop/${name}`, { strategy: 'SemVer' });
      });
      await eachOf(names, (name) => world.waitForFirstLook(name));
      for (const name of names) setTag(`shop/${name}`, '1.0.1', fakeImage('2'));
      return names;
    };
    const announceAll = (host: string, names: readonly string[]) =>
      eachOf([...names], async (name) => {
        assert.equal((await deliver(service, harborBody(host, `shop/${name}`, [{ tag: '1.0.1' }]))).status, 202);
      });
    const many = await prepareAt(broken, 'broken', 200);
    const few = await prepareAt(fake, 'healthy', 20);
    let isBroken = true;
    broken.answerNext(() => (isBroken ? { status: 500 } : undefined), { times: 1_000_000 });
    await announceAll(broken.host, many);
    await announceAll(fake.host, few);
    for (const name of few) assertPatchedTimes(await world.waitForImage(name, `${fake.host}/shop/${name}:1.0.1`), 1);
    for (const name of many) assertPatchedTimes(await world.readDeployment(name), 0);
    isBroken = false;
    for (const name of many) assertPatchedTimes(await world.waitForImage(name, `${broken.host}/shop/${name}:1.0.1`), 1);
  });

  it('requires a token: each push costs one request once the token is there', async () => {
    fake.requireBearer();
    await watch('private', 'SemVer', '1.0.0');
    fake.setTag('shop/private', '1.0.1', fakeImage('2'));
    await announce('private', '1.0.1', fakeImage('2'));
    await world.waitForImage('private', `${fake.host}/shop/private:1.0.1`);
    const before = fake.requests.length;
    fake.setTag('shop/private', '1.0.2', fakeImage('3'));
    await announce('private', '1.0.2', fakeImage('3'));
    await world.waitForImage('private', `${fake.host}/shop/private:1.0.2`);
    assert.deepEqual(
      fake.requests.slice(before).map(({ method, path }) => `${method} ${path}`),
      ['GET /v2/shop/private/manifests/1.0.2'],
    );
  });
});
