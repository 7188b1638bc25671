import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fakeDigest, startFakeRegistry, type FakeAnswer, type FakeRegistry } from '../harness/fake-registry.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

describe('a registry that is slow to tell the truth', () => {
  let world: World;
  let fake: FakeRegistry;
  let service: Service;

  before(async () => {
    [world, fake] = await Promise.all([startWorld(), startFakeRegistry()]);
    service = await world.start({ registryHosts: [fake.host] });
  });
  after(async () => {
    await world.stop();
    await fake.stop();
  });

  const watch = async (name: string, strategy: 'SemVer' | 'Latest', tag: string) => {
    fake.setTag(`shop/${name}`, tag, fakeDigest('1'));
    await world.createDeployment(name, `${fake.host}/shop/${name}:${tag}${strategy === 'Latest' ? `@${fakeDigest('1')}` : ''}`);
    await world.createPolicy(name, `${fake.host}/shop/${name}`, { strategy });
    await world.waitForFirstLook(name);
  };
  const announce = async (name: string, tag: string, digest: string) => {
    assert.equal((await deliver(service, harborBody(fake.host, `shop/${name}`, [{ tag, digest }]))).status, 202);
  };

  it('still shows the old digest of a moving tag at first: the new one is applied, and only that', async () => {
    await watch('stale', 'Latest', 'latest');
    fake.setTag('shop/stale', 'latest', fakeDigest('2'));
    fake.staleFor('shop/stale', 'latest', fakeDigest('1'), 5);
    await announce('stale', 'latest', fakeDigest('2'));
    const deployment = await world.waitForImage('stale', `${fake.host}/shop/stale:latest@${fakeDigest('2')}`);
    assert.equal(deployment.metadata.generation, 2);
  });

  it('is believed when it shows another digest than was announced for long', async () => {
    await watch('moved-on', 'Latest', 'latest');
    fake.setTag('shop/moved-on', 'latest', fakeDigest('3'));
    await announce('moved-on', 'latest', fakeDigest('2'));
    await world.waitForImage('moved-on', `${fake.host}/shop/moved-on:latest@${fakeDigest('3')}`);
  });

  const tooMany: FakeAnswer = { status: 429, headers: { 'Retry-After': '1' } };
  for (const [what, answer, times] of [
    ['404', { status: 404 }, 3],
    ['500', { status: 500 }, 2],
    ['429 with Retry-After', tooMany, 2],
    ['429', { status: 429 }, 2],
    ['nothing: it resets the connection', { destroy: true }, 2],
  ] as const) {
    it(`answers ${what} at first: patched after`, async () => {
      const name = `fault-${what.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()}`;
      await watch(name, 'SemVer', '1.0.0');
      fake.setTag(`shop/${name}`, '1.0.1', fakeDigest('2'));
      fake.answerNext(answer, { method: 'HEAD', path: `/v2/shop/${name}/manifests/1.0.1`, times });
      await announce(name, '1.0.1', fakeDigest('2'));
      await world.waitForImage(name, `${fake.host}/shop/${name}:1.0.1`, 60_000);
    });
  }

  it('asks for a token: one HEAD for a push once the token is there', async () => {
    fake.requireBearer();
    await watch('private', 'SemVer', '1.0.0');
    fake.setTag('shop/private', '1.0.1', fakeDigest('2'));
    await announce('private', '1.0.1', fakeDigest('2'));
    await world.waitForImage('private', `${fake.host}/shop/private:1.0.1`);
    const before = fake.requests.length;
    fake.setTag('shop/private', '1.0.2', fakeDigest('3'));
    await announce('private', '1.0.2', fakeDigest('3'));
    await world.waitForImage('private', `${fake.host}/shop/private:1.0.2`);
    assert.deepEqual(
      fake.requests.slice(before).map(({ method, path }) => `${method} ${path}`),
      ['HEAD /v2/shop/private/manifests/1.0.2'],
    );
  });
});
