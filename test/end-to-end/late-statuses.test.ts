/** A status is written after its change, and may come late or not at all: it never takes back what happened since. The real API server is behind a proxy that holds up or refuses statuses. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startKubeProxy, type KubeProxy } from '../harness/kube-proxy.ts';
import { pushImage } from '../harness/push-image.ts';
import { askRedis } from '../harness/redis.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { deliver, harborBody, secret, startWorld, type Service, type World } from './world.ts';

describe('a status that is late', () => {
  let world: World;
  let proxy: KubeProxy;
  let service: Service;
  let pushed = 0;
  before(async () => {
    world = await startWorld();
    proxy = await startKubeProxy(world.cluster, world.kubeconfig);
    proxy.tokens.add('token');
    const tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, 'token');
    // Changes within ten seconds are at the same time by its clock, like those of a moment in which a clock was set back.
    const clock = pathToFileURL(join(import.meta.dirname, '../harness/coarse-clock.mjs')).href;
    const env = { NODE_OPTIONS: `--import=${clock}`, WEBHOOK_SECRET: secret };
    service = await world.start({ kubeconfig: writeKubeconfig(proxy.server, { tokenFile }), env });
  });
  after(async () => {
    await world.stop();
    await proxy.stop();
  });
  afterEach(() => proxy.heal());

  const repositoryOf = (name: string) => `${world.quiet.host}/shop/${name}`;
  const waitForStatus = (name: string, digest: string) =>
    waitFor(`the status of ${name} to have ${digest}`, async () => (await world.readStatus(name)).history?.[0]?.digest === digest);
  /** A policy that has applied what it selects first, and says so. */
  const prepare = async (name: string, strategy: 'SemVer' | 'Latest', first: string): Promise<void> => {
    const { digest } = await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag: first, content: name });
    await world.createDeployment(name, `${repositoryOf(name)}:${first}`);
    await world.createPolicy(name, repositoryOf(name), { strategy }, { update: { pin: 'Digest' } });
    await waitForStatus(name, digest);
  };
  const waitForImage = async (name: string, digest: string) =>
    waitFor(`Deployment ${name} to run ${digest}`, async () => {
      const [container] = (await world.readDeployment(name)).spec.template.spec.containers;
      return container?.image.includes(digest) && container.image;
    });
  /** Pushes an image, and waits until the Deployment runs it. */
  const update = async (name: string, tag: string, to: Service = service) => {
    const { digest } = await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: `${name} ${pushed++}` });
    const { accepted } = await deliver(to, harborBody(world.quiet.host, `shop/${name}`, [{ tag, digest }]));
    return { digest, image: await waitForImage(name, digest), push: accepted[0]?.id ?? '' };
  };
  const statusesOf = (name: string) => ({ method: 'PATCH', path: new RegExp(`/imagepolicies/${name}/status`) });
  const countStatuses = (name: string) => proxy.requests.filter((one) => one.startsWith('PATCH') && statusesOf(name).path.test(one)).length;
  const waitUntilDone = (id: string) =>
    waitFor(
      'the job of the push to be done',
      async () => !(await askRedis(world.redis.port, `ZSCORE {image-watcher}:push:completed ${id}`)).startsWith('$-1'),
    );

  for (const [strategy, tags] of [
    ['SemVer', ['1.0.0', '1.0.1', '1.0.2']],
    ['Latest', ['latest', 'latest', 'latest']],
  ] as const)
    it(`does not overwrite latest and targets when another replica has applied a newer image (${strategy})`, async () => {
      const name = `overtaken-${strategy.toLowerCase()}`;
      const [first, second, third] = tags;
      await prepare(name, strategy, first);
      const other = await world.start({ config: { redis: { url: world.redis.url, prefix: '{other}' } } });
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      const written = countStatuses(name);
      proxy.spoil({ after: held }, statusesOf(name));
      const late = await update(name, second);
      await waitFor('its status to be on its way', () => countStatuses(name) > written);
      const newer = await update(name, third, other);
      await waitForStatus(name, newer.digest);
      release();
      await waitUntilDone(late.push);
      const { latest, lastAppliedTag, history = [], targets } = await world.readStatus(name);
      assert.deepEqual([latest?.digest, lastAppliedTag, targets?.[0]?.image], [newer.digest, third, newer.image]);
      assert.deepEqual(
        history.slice(0, 2).map(({ digest }) => digest),
        [newer.digest, late.digest],
      );
      await other.stop();
    });

  it('does not hide that somebody has set the former image again after its change', async () => {
    const name = 'set-back';
    await prepare(name, 'SemVer', '1.0.0');
    const before = await update(name, '1.0.1');
    await waitForStatus(name, before.digest);
    proxy.spoil({ status: 500 }, { ...statusesOf(name), times: 1_000_000 });
    const { push } = await update(name, '1.0.2');
    const { generation } = (await world.readDeployment(name)).metadata;
    await world.setImage(name, before.image);
    proxy.heal();
    await waitUntilDone(push);
    const { metadata, spec } = await world.readDeployment(name);
    assert.deepEqual([spec.template.spec.containers[0]?.image, metadata.generation], [before.image, generation + 1]);
    await world.waitForCondition(name, 'Held', 'Held');
  });
});
