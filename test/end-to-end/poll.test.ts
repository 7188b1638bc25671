import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, deliver, harborBody, startWorld, type Service, type TagPolicy, type World } from './world.ts';

// Every tick is a turn.
const poll = { interval: '1s' };

describe('a change that no webhook announces', () => {
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

  it('is found by the poll, which reports missing webhooks at the third time in a row', async () => {
    const target = await watch('silent', { strategy: 'SemVer' }, '1.0.0');
    for (const tag of ['1.1.0', '1.2.0', '1.3.0']) {
      await pushImage({ ...target, tag, content: tag });
      await world.waitForImage('silent', `${target.host}/${target.repository}:${tag}`);
      await waitFor('the status', async () => (await world.readStatus('silent')).latest?.tag === tag);
      const events = await world.listEvents('ImagePolicy', 'silent');
      if (tag !== '1.3.0') assert.ok(events.every(({ reason }) => reason !== 'WebhookMissing'));
    }
    assert.equal((await world.readStatus('silent')).trigger?.source, 'Poll');
    const { type, message } = await waitForEvent('silent', 'WebhookMissing');
    assert.equal(type, 'Warning');
    assert.match(message, /3 images .*shop\/silent:1\.3\.0/);
    assert.equal(await metricOf('image_watcher_unannounced_finds_total'), 3);
  });

  // Each waits for several polls.
  describe('that the poll finds', { concurrency: true }, () => {
    it('may be a deleted tag: the running image stays, and that is reported', async () => {
      const { host, repository } = await watch('deleted', { strategy: 'SemVer' }, '1.0.0');
      const { digest } = await pushImage({ host, repository, tag: '1.1.0', content: 'the newest' });
      await world.waitForImage('deleted', `${host}/${repository}:1.1.0`);
      await waitFor('the status', async () => (await world.readStatus('deleted')).latest?.tag === '1.1.0');
      const answer = await fetch(`http://${host}/v2/${repository}/manifests/${digest}`, { method: 'DELETE' });
      assert.equal(answer.status, 202);
      const condition = await world.waitForCondition('deleted', 'TagGone', 'TagGone');
      assert.match(condition.message, /shop\/deleted:1\.1\.0/);
      assert.equal((await world.condition('deleted', 'Ready'))?.status, 'True');
      await waitForEvent('deleted', 'TagGone');
      const deployment = await world.readDeployment('deleted');
      assert.equal(deployment.spec.template.spec.containers[0]?.image, `${host}/${repository}:1.1.0`);

      await pushImage({ host, repository, tag: '1.2.0', content: 'newer still' });
      await world.waitForImage('deleted', `${host}/${repository}:1.2.0`);
      await waitFor('the condition to end', async () => (await world.condition('deleted', 'TagGone')) === undefined);
    });

    it('may be an older build of the running version, which is not applied, whatever a push announced', async () => {
      const { host } = world.quiet;
      const repository = 'shop/rebuilt';
      const imageOf = (tag: string, digest: string) => `${host}/${repository}:${tag}@${digest}`;
      const build = (tag: string) => pushImage({ host, repository, tag, content: tag });
      const pollsOf = async () => {
        const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
        return [...text.matchAll(/^image_watcher_polls_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
      };
      const first = await build('1.4.2-20260101');
      await world.createDeployment('rebuilt', `${host}/${repository}:1.4.2-20260101`);
      const spec = { poll, tags: { allow: '(.*)-[0-9]{8}', extract: '$1' }, update: { pin: 'Digest' } } as const;
      await world.createPolicy('rebuilt', `${host}/${repository}`, { strategy: 'SemVer' }, spec);
      await world.waitForImage('rebuilt', imageOf('1.4.2-20260101', first.digest));

      const second = await build('1.4.2-20260201');
      await deliver(service, harborBody(host, repository, [{ tag: '1.4.2-20260201' }]));
      await world.waitForImage('rebuilt', imageOf('1.4.2-20260201', second.digest));
      const polls = await pollsOf();
      // Those that run already, and those of the other policies of this file.
      await waitFor('more polls', async () => (await pollsOf()) >= polls + 6);

      const third = await build('1.5.0-20250101');
      await world.waitForImage('rebuilt', imageOf('1.5.0-20250101', third.digest));
      await waitFor('the status', async () => (await world.readStatus('rebuilt')).latest?.tag === '1.5.0-20250101');
      const { history = [] } = await world.readStatus('rebuilt');
      assert.deepEqual(
        history.map(({ tag }) => tag),
        ['1.5.0-20250101', '1.4.2-20260201', '1.4.2-20260101'],
      );
    });

    it('may be a moved tag: a policy that follows it is updated', async () => {
      const target = await watch('moved', { strategy: 'Latest' }, 'latest');
      const { digest } = await pushImage({ ...target, tag: 'latest', content: 'moved' });
      await world.waitForImage('moved', `${target.host}/${target.repository}:latest@${digest}`);
      await waitFor('the status', async () => (await world.readStatus('moved')).latest?.digest === digest);
    });
  });
});
