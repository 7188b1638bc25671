/** A chain of bases, with the real controllers: a framework on Java is brought to a new Java first, and then its applications to that framework. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { bothPlatforms, pushReal, type RealBuild } from '../bases/rebase/build.ts';
import { unpack } from '../bases/rebase/unpack.ts';
import { runPods } from './base-fleet.ts';
import { announce, startWorld, type World } from './world.ts';

let world: World;
let kubelet: ReturnType<typeof runPods>;

before(async () => {
  world = await startWorld({ controllers: true, extraRules: shippedRules('work-rebase') });
  kubelet = runPods(world.cluster, world.namespace);
  const service = await world.start();
  await announce(world.registry, service);
  await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
    metadata: { name: 'rebaser' },
    type: 'kubernetes.io/dockerconfigjson',
    data: {
      '.dockerconfigjson': Buffer.from(
        JSON.stringify({ auths: { [world.registry.host]: { username: 'rebaser', password: 'x' } } }),
      ).toString('base64'),
    },
  });
});
after(async () => {
  await kubelet?.stop();
  await world.stop();
});

const config = { Env: ['PATH=/usr/bin'], User: 'app', Entrypoint: ['java', '-jar', '/app/main.jar'] };
const os = { 'etc/os-release': 'Debian PLATFORM' };
const java = (version: string) => ({ 'opt/java/bin/java': `java ${version} PLATFORM` });
const framework = { 'opt/framework/lib.jar': 'framework 3.1 PLATFORM' };

async function push(repository: string, tag: string, layers: RealBuild['layers'], more: Partial<RealBuild> = {}): Promise<string> {
  const { digest } = await pushReal(
    { host: world.registry.host, repository, tag },
    { layers, config, created: '2026-01-01T00:00:00Z', ...more },
  );
  return digest;
}

const pathOf = (name = '') => `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`.replace(/\/$/, '');

async function watch(name: string, spec: object = {}): Promise<void> {
  await world.cluster.request('POST', pathOf(), {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name },
    spec: {
      image: `${world.registry.host}/library/${name}`,
      select: { semver: {} },
      workloads: [{ kinds: ['Deployment'] }],
      onNewBase: [{ rebase: { images: ['*'], pushSecret: { name: 'rebaser' } } }],
      poll: { interval: '8h' },
      ...spec,
    },
  });
}

const waitForStatus = (name: string, what: string, isReached: (status: BaseStatus) => boolean) =>
  waitFor(`${name}: ${what}`, async () => {
    const { status = {} } = (await world.cluster.request('GET', pathOf(name))) as { status?: BaseStatus };
    if (isReached(status)) return status;
    throw new Error(JSON.stringify(status, null, 1));
  });

/** Nobody is behind, and nothing is under way. */
const isDone = ({ images, conditions = [] }: BaseStatus) =>
  images?.behind === 0 && conditions.find(({ type }) => type === 'Ready')?.status === 'True';

async function imageOf(name: string): Promise<string> {
  const found = await world.listDeployments();
  return found.find(({ metadata }) => metadata.name === name)?.spec.template.spec.containers[0]?.image ?? '';
}

test('a base in between is brought forward first, and its applications follow by its own policy', async () => {
  await push('library/java', '21.0.1', [os, java('21.0.1')]);
  const digest = await push('library/framework', '3.1.0', [os, java('21.0.1'), framework]);
  const names = {
    'org.opencontainers.image.base.name': `${world.registry.host}/library/framework:3.1.0`,
    'org.opencontainers.image.base.digest': digest,
  };
  const own = (name: string) => ({ 'app/main.jar': `${name} PLATFORM` });
  await push('shop/web', '1.2.3', [os, java('21.0.1'), framework, own('web')], { annotations: names });
  await push('shop/plain', '1.2.3', [os, java('21.0.1'), own('plain')]);
  for (const name of ['web', 'plain']) await world.createDeployment(name, `${world.registry.host}/shop/${name}:1.2.3`);
  await watch('java');
  await watch('framework');
  await waitForStatus('java', 'both applications are current', ({ images }) => images?.current === 2);
  await waitForStatus('framework', 'its application is current', ({ images }) => images?.current === 1);

  for (const version of ['21.0.2', '21.0.3']) {
    await push('library/java', version, [os, java(version)]);
    const status = await waitForStatus('java', `all are brought to ${version}`, (found) => found.latest?.tag === version && isDone(found));
    assert.deepEqual({ ...status.images }, { total: 2, current: 2, behind: 0, otherLine: 0, unknown: 0, unrelated: 0 });
    const followed = await waitForStatus('framework', 'nobody is behind', isDone);
    assert.match(followed.latest?.tag ?? '', /^3\.1\.0-base\.\d{8}/);
    for (const name of ['web', 'plain']) assert.match(await imageOf(name), /:1\.2\.3-base\.\d{8}/);
    for (const platform of bothPlatforms) {
      const common = { 'etc/os-release': `Debian ${platform}`, 'opt/java/bin/java': `java ${version} ${platform}` };
      assert.deepEqual(await unpack(await imageOf('plain'), platform), { ...common, 'app/main.jar': `plain ${platform}` });
      const lib = { 'opt/framework/lib.jar': `framework 3.1 ${platform}` };
      assert.deepEqual(await unpack(await imageOf('web'), platform), { ...common, ...lib, 'app/main.jar': `web ${platform}` });
    }
  }
});

test('an application whose Java was replaced directly keeps its framework, and never returns to an older Java', async () => {
  const alpine = { 'etc/os-release': 'Alpine PLATFORM' };
  const jdk = (version: string) => ({ 'opt/jdk/bin/java': `java ${version} PLATFORM` });
  const lib = (version: string) => ({ 'opt/quarks/lib.jar': `quarks ${version} PLATFORM` });
  const repository = `${world.registry.host}/library/quarks`;
  await push('library/jdk', '21.0.1', [alpine, jdk('21.0.1')]);
  const digest = await push('library/quarks', '3.1.0', [alpine, jdk('21.0.1'), lib('3.1.0')]);
  const annotations = { 'org.opencontainers.image.base.name': `${repository}:3.1.0`, 'org.opencontainers.image.base.digest': digest };
  await push('shop/cart', '1.2.3', [alpine, jdk('21.0.1'), lib('3.1.0'), { 'app/main.jar': 'cart PLATFORM' }], { annotations });
  await world.createDeployment('cart', `${world.registry.host}/shop/cart:1.2.3`);
  const onNewBase = [{ rebase: { images: [`${world.registry.host}/shop/cart`], pushSecret: { name: 'rebaser' } } }];
  await watch('jdk', { basesBetween: 'Skip', onNewBase });
  await watch('quarks', { onNewBase });
  const cartOf = ({ dependents = [] }: BaseStatus) => dependents.find(({ image }) => image.includes('/shop/cart:'));
  for (const name of ['jdk', 'quarks']) await waitForStatus(name, 'cart is current', (status) => cartOf(status)?.state === 'Current');

  await push('library/jdk', '21.0.2', [alpine, jdk('21.0.2')]);
  await waitForStatus('jdk', 'cart is on it', (status) => isDone(status) && status.latest?.tag === '21.0.2');
  const rebased = await imageOf('cart');
  const known = await waitForStatus('quarks', 'the rebased cart is known', (status) => cartOf(status)?.image === rebased);
  assert.deepEqual([cartOf(known)?.state, cartOf(known)?.recognizedBy], ['Current', 'Origin']);

  await push('library/quarks', '3.2.0', [alpine, jdk('21.0.1'), lib('3.2.0')]);
  const waiting = await waitForStatus('quarks', 'cart waits', (status) => cartOf(status)?.reason === 'BaseBetween');
  assert.match(cartOf(waiting)?.message ?? '', /it is built on \S+\/library\/jdk:21\.0\.2, and 3\.2\.0 on \S+\/library\/jdk:21\.0\.1/);
  assert.equal(await imageOf('cart'), rebased);

  await push('library/quarks', '3.2.1', [alpine, jdk('21.0.2'), lib('3.2.1')]);
  await waitForStatus('quarks', 'cart is on 3.2.1', (status) => isDone(status) && status.latest?.tag === '3.2.1');
  for (const platform of bothPlatforms)
    assert.deepEqual(await unpack(await imageOf('cart'), platform), {
      'etc/os-release': `Alpine ${platform}`,
      'opt/jdk/bin/java': `java 21.0.2 ${platform}`,
      'opt/quarks/lib.jar': `quarks 3.2.1 ${platform}`,
      'app/main.jar': `cart ${platform}`,
    });
  await waitForStatus('jdk', 'cart is current', (status) => cartOf(status)?.state === 'Current');
});
