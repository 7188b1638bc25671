import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, startWorld, type Service, type TagPolicy, type World } from './world.ts';

// Every tick is a turn.
const poll = { interval: '1s' };

describe('what no webhook announces', () => {
  let world: World;
  let service: Service;

  before(async () => {
    world = await startWorld();
    service = await world.start();
    await announce(world.registry, service);
  });
  after(() => world.stop());

  const watch = async (name: string, tagPolicy: TagPolicy, running: string) => {
    const { host } = world.quiet;
    const repository = `shop/${name}`;
    await pushImage({ host, repository, tag: running, content: `${name} ${running}` });
    await world.createDeployment(name, `${host}/${repository}:${running}`);
    await world.createPolicy(name, `${host}/${repository}`, tagPolicy, { poll });
    await world.waitForFirstLook(name);
    return { host, repository };
  };
  const waitForEvent = (name: string, reason: string) =>
    waitFor(`the Event ${reason} of policy ${name}`, async () =>
      (await world.waitForEvents('ImagePolicy', name)).find((event) => event.reason === reason),
    );
  const metricOf = async (name: string) => {
    const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    return Number(new RegExp(`^${name}\\{registry="${world.quiet.host}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  };

  it('is found by the poll; the third time in a row somebody is told that webhooks are missing', async () => {
    const target = await watch('silent', { strategy: 'SemVer' }, '1.0.0');
    for (const tag of ['1.1.0', '1.2.0', '1.3.0']) {
      await pushImage({ ...target, tag, content: tag });
      await world.waitForImage('silent', `${target.host}/${target.repository}:${tag}`, 60_000);
      await waitFor('the status', async () => (await world.readStatus('silent')).latest?.tag === tag);
      const events = await world.waitForEvents('ImagePolicy', 'silent');
      if (tag !== '1.3.0') assert.ok(events.every(({ reason }) => reason !== 'WebhookMissing'));
    }
    assert.equal((await world.readStatus('silent')).trigger?.source, 'Poll');
    const { type, message } = await waitForEvent('silent', 'WebhookMissing');
    assert.equal(type, 'Warning');
    assert.match(message, /3 images .*shop\/silent:1\.3\.0/);
    assert.equal(await metricOf('image_watcher_unannounced_finds_total'), 3);
  });

  it('may be a tag that was deleted: what runs stays, and is told', async () => {
    const { host, repository } = await watch('deleted', { strategy: 'SemVer' }, '1.0.0');
    const { digest } = await pushImage({ host, repository, tag: '1.1.0', content: 'the newest' });
    await world.waitForImage('deleted', `${host}/${repository}:1.1.0`, 60_000);
    await waitFor('the status', async () => (await world.readStatus('deleted')).latest?.tag === '1.1.0');
    const answer = await fetch(`http://${host}/v2/${repository}/manifests/${digest}`, { method: 'DELETE' });
    assert.equal(answer.status, 202);
    const condition = await world.waitForCondition('deleted', 'TagGone', 'TagGone', 60_000);
    assert.match(condition.message, /shop\/deleted:1\.1\.0/);
    assert.equal((await world.condition('deleted', 'Ready'))?.status, 'True');
    await waitForEvent('deleted', 'TagGone');
    const deployment = await world.readDeployment('deleted');
    assert.equal(deployment.spec.template.spec.containers[0]?.image, `${host}/${repository}:1.1.0`);

    await pushImage({ host, repository, tag: '1.2.0', content: 'newer still' });
    await world.waitForImage('deleted', `${host}/${repository}:1.2.0`, 60_000);
    await waitFor('the condition to end', async () => (await world.condition('deleted', 'TagGone')) === undefined);
  });

  it('may be a tag that was moved: a policy that follows it goes along', async () => {
    const target = await watch('moved', { strategy: 'Latest' }, 'latest');
    const { digest } = await pushImage({ ...target, tag: 'latest', content: 'moved' });
    await world.waitForImage('moved', `${target.host}/${target.repository}:latest@${digest}`, 60_000);
    await waitFor('the status', async () => (await world.readStatus('moved')).latest?.digest === digest);
  });
});
