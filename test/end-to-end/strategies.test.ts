/** What chooses by more than names, against real images in a real registry: creation time, platforms, age. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushChart, pushImage, pushIndex, putManifest } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, assertPatchedTimes, deliver, deliverUntilAccepted, harborBody, startWorld, type Service, type World } from './world.ts';

const indexType = 'application/vnd.oci.image.index.v1+json';
const any = { strategy: 'SemVer' } as const;

describe('a policy that selects by more than names', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld();
    service = await world.start();
    await announce(world.registry, service);
  });
  after(() => world.stop());

  const repository = (name: string) => `${world.registry.host}/shop/${name}`;
  const target = (name: string, tag: string) => ({ host: world.registry.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` });
  const create = async (name: string, running: string, spec: Partial<Spec>) => {
    await world.createDeployment(name, `${repository(name)}:${running}`);
    await world.createPolicy(name, repository(name), any, spec);
    await world.waitForFirstLook(name);
  };
  const readyMessage = (name: string, pattern: RegExp) =>
    waitFor(`Ready of ${name} to say ${pattern.source}`, async () => pattern.test((await world.condition(name, 'Ready'))?.message ?? ''));

  const countArtifacts = async () => {
    const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    return [...metrics.matchAll(/reason="NotAnImage".*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  };

  it('selects the image that was created last, whatever its name and whenever it is pushed', async () => {
    const push = (tag: string, created: string) => pushImage({ ...target('newest', tag), created });
    await push('zebra', '2026-01-02T00:00:00Z');
    await create('newest', 'zebra', { select: { newest: {} }, tags: { ignore: ['^pr-'] } });
    await push('yak', '2026-01-01T00:00:00Z');
    await push('pr-7', '2026-01-09T00:00:00Z');
    await push('ant', '2026-01-03T00:00:00Z');
    assertPatchedTimes(await world.waitForImage('newest', `${repository('newest')}:ant`), 1);
    await waitFor('what is selected', async () => {
      const { latest } = await world.readStatus('newest');
      return latest?.tag === 'ant' && latest.createdAt === '2026-01-03T00:00:00.000Z';
    });
  });

  it('finds the newest image when the policy is created, even through an index', async () => {
    // Nothing is announced: late news of a push would be an update of its own.
    const { host } = world.quiet;
    const image = (tag: string) => `${host}/shop/old:${tag}`;
    const push = (tag: string, created: string) => pushImage({ host, repository: 'shop/old', tag, content: `old ${tag}`, created });
    await push('one', '2026-01-01T00:00:00Z');
    await push('three', '2026-01-03T00:00:00Z');
    await push('two', '2026-01-02T00:00:00Z');
    await push('reproducible', '1970-01-01T00:00:00Z');
    await world.createDeployment('old', image('one'));
    await world.createPolicy('old', `${host}/shop/old`, any, { select: { newest: {} } });
    assertPatchedTimes(await world.waitForImage('old', image('three')), 1);
  });

  for (const [name, select, tags] of [
    ['alphabetical', { alphabetical: {} }, ['main-1', 'main-2', 'main-3']],
    ['newest', { newest: {} }, ['main-1', 'main-2', 'main-3']],
    ['semver', { semver: {} }, ['1.0.0', '1.1.0', '1.2.0']],
  ] as const) {
    it(`never applies signatures, referrers and charts beside the images that it selects with ${name}`, async () => {
      const { host } = world.quiet;
      const imageLocation = { host, repository: `shop/beside-${name}` };
      const image = (tag: string) => `${host}/shop/beside-${name}:${tag}`;
      const push = (tag: string, day: number) => pushImage({ ...imageLocation, tag, content: tag, created: `2026-01-0${day}T00:00:00Z` });
      const [running, pushed, chart] = tags;
      await push(running, 1);
      const { digest } = await push(pushed, 2);
      const referrers = digest.replace(':', '-');
      const index = {
        schemaVersion: 2,
        mediaType: indexType,
        manifests: [],
        annotations: { 'org.opencontainers.image.created': '2026-01-08T00:00:00Z' },
      };
      await putManifest({ ...imageLocation, tag: referrers }, referrers, indexType, index);
      await pushImage({ ...imageLocation, tag: `${referrers}.sig`, content: 'signature', created: '2026-01-09T00:00:00Z' });
      await pushChart({ ...imageLocation, tag: chart, created: '2026-01-07T00:00:00Z' });
      await world.createDeployment(`beside-${name}`, image(running));
      await world.createPolicy(`beside-${name}`, `${host}/shop/beside-${name}`, any, { select });
      assertPatchedTimes(await world.waitForImage(`beside-${name}`, image(pushed)), 1);
      const before = await countArtifacts();
      await deliver(service, harborBody(host, `shop/beside-${name}`, [{ tag: chart }]));
      await waitFor('the push of the chart to be ignored', async () => (await countArtifacts()) > before);
      assertPatchedTimes(await world.readDeployment(`beside-${name}`), 1);
    });
  }

  it('waits for all platforms of an image whose index is pushed last', async () => {
    // Late news of the first one would take the place of what is said about all.
    const { host } = world.quiet;
    const target = (tag: string) => ({ host, repository: 'shop/both', tag, content: `both ${tag}` });
    await pushIndex(target('1.0.0'));
    await pushImage(target('1.1.0'));
    await world.createDeployment('both', `${host}/shop/both:1.0.0`);
    await world.createPolicy('both', `${host}/shop/both`, any, { platforms: ['linux/amd64', 'linux/arm64'] });
    await readyMessage('both', /passed over: 1\.1\.0 has linux\/amd64, not linux\/arm64/);
    assertPatchedTimes(await world.readDeployment('both'), 0);
    await pushIndex(target('1.1.0'));
    await deliver(service, harborBody(host, 'shop/both', [{ tag: '1.1.0' }]));
    assertPatchedTimes(await world.waitForImage('both', `${host}/shop/both:1.1.0`), 1);
  });

  it('is stalled while no image has the platforms, until one is pushed', async () => {
    await pushImage(target('arm', '1.0.0'));
    await create('arm', '0.9.0', { platforms: ['linux/arm64'] });
    const stalled = await world.waitForCondition('arm', 'Stalled', 'PlatformMissing');
    assert.equal(stalled.message, '1.0.0 has linux/amd64, not linux/arm64');
    await pushIndex(target('arm', '1.0.1'));
    await world.waitForImage('arm', `${repository('arm')}:1.0.1`);
    await waitFor('the policy not to be stalled', async () => (await world.condition('arm', 'Stalled')) === undefined);
  });

  it('waits for an image to reach its minimum age, across a restart and an emptied Redis, and then for the next image', async () => {
    const host = world.quiet.host;
    const image = (tag: string) => `${host}/shop/aged:${tag}`;
    const push = (tag: string) => pushImage({ host, repository: 'shop/aged', tag, content: `aged ${tag}` });
    await push('1.0.0');
    await world.createDeployment('aged', image('1.0.0'));
    await world.createPolicy('aged', `${host}/shop/aged`, any, { minAge: '5s' });
    await world.waitForFirstLook('aged');
    const { digest } = await push('1.1.0');
    assert.equal((await deliver(service, harborBody(host, 'shop/aged', [{ tag: '1.1.0', digest }]))).status, 202);
    const { waiting, conditions } = await waitFor('1.1.0 to wait', async () => {
      const { waiting, conditions } = await world.readStatus('aged');
      return waiting?.tag === '1.1.0' && { waiting, conditions };
    });
    assert.deepEqual([waiting.digest, waiting.reason], [digest, 'MinAge']);
    assert.equal(conditions?.find(({ type }) => type === 'Reconciling')?.reason, 'MinAge');

    await service.kill9();
    const redis = new Redis(world.redis.url);
    await redis.flushall();
    redis.disconnect();
    await service.restart();
    const pushed = await push('1.2.0');
    await deliverUntilAccepted(harborBody(host, 'shop/aged', [{ tag: '1.2.0', digest: pushed.digest }]), service);
    await world.waitForImage('aged', image('1.2.0'));
    const status = await waitFor('nothing to wait', async () => {
      const found = await world.readStatus('aged');
      return found.waiting === undefined && found.lastAppliedTag === '1.2.0' && found;
    });
    const [second, first] = status.history ?? [];
    assert.deepEqual([first?.tag, second?.tag], ['1.1.0', '1.2.0']);
    // Where the time is over when the next one is announced, or looked at, it is that look which brings it.
    for (const entry of [first, second]) assert.match(entry?.trigger ?? '', /^(WaitOver|Webhook)$/);
    assert.ok(Date.parse(first?.at ?? '') >= Date.parse(waiting.until), `${first?.at} is before ${waiting.until}`);
    assertPatchedTimes(await world.readDeployment('aged'), 2);
    assert.equal((await world.condition('aged', 'Ready'))?.reason, 'UpToDate');
  });
});
