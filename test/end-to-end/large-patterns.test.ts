/** A policy whose patterns would be programs of millions of instructions hurts itself alone. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Service, type World } from './world.ts';

/** Each count is one that the API server takes; 16 kB in all. */
const huge = Array.from({ length: 32 }, (_, index) => `${index}${'(?:[a-z]{0,100}-?){0,9}'.repeat(22)}`);

describe('policies with patterns that are too large', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld();
    service = await world.start();
    await pushImage({ host: world.quiet.host, repository: 'shop/neighbour', tag: '1.0.0', content: '1.0.0' });
    await world.createDeployment('neighbour', image('1.0.0'));
    await world.createPolicy('neighbour', `${world.quiet.host}/shop/neighbour`, { strategy: 'SemVer' });
    await world.waitForFirstLook('neighbour');
  });
  after(() => world.stop());

  const image = (tag: string) => `${world.quiet.host}/shop/neighbour:${tag}`;
  const push = async (tag: string) => {
    await pushImage({ host: world.quiet.host, repository: 'shop/neighbour', tag, content: tag });
    assert.equal((await deliver(service, harborBody(world.quiet.host, 'shop/neighbour', [{ tag }]))).status, 202);
  };

  it('are Stalled with a reason', async () => {
    const policy = (name: string, extra: Parameters<World['createPolicy']>[3]) =>
      world.createPolicy(name, `${world.quiet.host}/shop/neighbour`, { strategy: 'SemVer' }, { target: 'neighbour', ...extra });
    await policy('many', { tags: { ignore: huge } });
    await policy('one', { tags: { allow: huge[0] ?? '' } });
    const keyless = huge.slice(0, 8).map((identityPattern) => ({ issuer: 'https://issuer.example', identityPattern }));
    await policy('signers', { verify: { cosign: { keyless } } });
    const many = await world.waitForCondition('many', 'Stalled', 'InvalidTagPolicy');
    assert.match(many.message ?? '', /^spec: the patterns of the policy compile to \d{6,} instructions, and 2000 are allowed: remove some/);
    const stalledCondition = await world.waitForCondition('one', 'Stalled', 'InvalidTagPolicy');
    assert.match(
      stalledCondition.message ?? '',
      /^spec\.tags\.allow: the pattern "0\(\?:.*…" is too large: it compiles to \d{5,} instructions/,
    );
    await world.waitForCondition('signers', 'Stalled', 'InvalidTagPolicy');
  });

  it('are refused by the API server where it can recognise a large count', async () => {
    const refused = world.createPolicy('refused', 'shop/web', { strategy: 'Regex', pattern: '(?:a{1000}){1,5}' });
    await assert.rejects(refused, { status: 422, body: /repetition counts of at most 128/ });
  });

  it('do not prevent other policies from being updated', async () => {
    await push('1.0.1');
    assertPatchedTimes(await world.waitForImage('neighbour', image('1.0.1')), 1);
  });

  it('do not prevent a restarted service from continuing', async () => {
    await service.kill9();
    await service.restart();
    await push('1.0.2');
    assertPatchedTimes(await world.waitForImage('neighbour', image('1.0.2')), 2);
  });
});
