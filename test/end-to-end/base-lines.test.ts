/** Nobody is forgotten, and nobody is moved to the wrong base: lines of versions, moved tags, late adoption and many tags, on real parts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { buildImage, type Build } from '../bases/recognize/build-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, startWorld, type Service, type World } from './world.ts';

let world: World;
let service: Service;

before(async () => {
  world = await startWorld();
  service = await world.start();
  await announce(world.registry, service);
});
after(() => world.stop());

const pathOf = (name: string) => `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`;

/** A base in a repository of its own, the Deployments that run images on it, and its policy. */
function baseWorld(name: string) {
  const { host } = world.registry;
  const repository = `library/${name}`;
  return {
    image: `${host}/${repository}`,
    push: (tag: string, layers: string) => buildImage({ host, repository, tag }, { layers }),
    async deploy(app: string, layers: string, more: Partial<Build> = {}) {
      await buildImage({ host, repository: `${name}/${app}`, tag: '1.0.0' }, { layers: `${layers} ${app}`, ...more });
      await world.createDeployment(`${name}-${app}`, `${host}/${name}/${app}:1.0.0`);
    },
    async watch(spec: object) {
      await world.cluster.request('POST', `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies`, {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'BaseImagePolicy',
        metadata: { name },
        spec: { image: `${host}/${repository}`, workloads: [{}], poll: { interval: '8h' }, ...spec },
      });
    },
    waitForStatus: (what: string, isReached: (status: BaseStatus) => boolean) =>
      waitFor(`${name}: ${what}`, async () => {
        const { status = {} } = (await world.cluster.request('GET', pathOf(name))) as { status?: BaseStatus };
        return isReached(status) && status;
      }),
  };
}

/** The states of the applications that are not unrelated: `web: Behind on 21.0.1`. */
function statesOf({ dependents = [] }: BaseStatus, name: string): string[] {
  const own = dependents.filter(({ image }) => image.includes(`/${name}/`));
  return own.map(({ image, state, base }) => {
    const app = image.split('/').at(-1)?.split(':')[0];
    return `${app}: ${state}${base === undefined ? '' : ` on ${base.split('@')[0]}`}`;
  });
}

const readyOf = ({ conditions = [] }: BaseStatus) => conditions.find(({ type }) => type === 'Ready');

test('an application on another line of its base is shown, and not moved to the selected line', async () => {
  const base = baseWorld('java');
  await base.push('17.0.9', 'debian java17');
  await base.push('21.0.1-alpine', 'alpine java21-musl');
  await base.push('21.0.1', 'debian java21.1');
  await base.deploy('web', 'debian java21.1');
  await base.deploy('musl', 'alpine java21-musl');
  await base.deploy('legacy', 'debian java17');
  const trigger = { images: ['*'], webhook: { url: 'https://ci.example.com/hook', secretRef: { name: 'ci', key: 'key' } } };
  await base.watch({ select: { semver: { range: '21.x' } }, onNewBase: [{ trigger }] });
  const first = await base.waitForStatus('all are examined', ({ images }) => images?.total === 3);
  assert.deepEqual(statesOf(first, 'java').toSorted(), [
    'legacy: OtherLine on 17.0.9',
    'musl: OtherLine on 21.0.1-alpine',
    'web: Current on 21.0.1',
  ]);
  assert.deepEqual([first.requests, readyOf(first)?.reason], [undefined, 'UpToDate']);

  await base.push('21.0.2', 'debian java21.2');
  const second = await base.waitForStatus('one is behind', ({ images }) => images?.behind === 1);
  assert.equal(second.images?.otherLine, 2);
  const requested = await base.waitForStatus('a rebuild is wanted', ({ dependents = [] }) =>
    dependents.some(({ action }) => action === 'trigger'),
  );
  assert.deepEqual(
    requested.dependents?.filter(({ action }) => action !== undefined).map(({ image }) => image.split('/').at(-1)?.split(':')[0]),
    ['web'],
  );

  // Whoever wants to cross lines says so.
  await world.cluster.request('PATCH', pathOf('java'), { spec: { from: ['17.*'] } }, 'application/merge-patch+json');
  const crossed = await base.waitForStatus('two are behind', ({ images }) => images?.behind === 2);
  assert.ok(statesOf(crossed, 'java').includes('musl: OtherLine on 21.0.1-alpine'), statesOf(crossed, 'java').join());
});

test('all images that a mutable tag of a base had are remembered, also after Redis was emptied and the service restarted', async () => {
  const base = baseWorld('moving');
  const pushes = 14;
  await base.push('21', 'debian push-0');
  await base.watch({ select: { digest: { tag: '21' } } });
  for (let push = 0; push < pushes; push++) {
    const { digest } = await base.push('21', `debian push-${push}`);
    await base.waitForStatus(
      `push ${push} is selected`,
      ({ latest, versions }) => latest?.digest === digest && (versions?.known ?? 0) > push,
    );
  }
  await service.kill9();
  const redis = new Redis(world.redis.url);
  await redis.flushall();
  redis.disconnect();
  await service.restart();
  for (let push = 0; push < pushes; push++) await base.deploy(`app-${push}`, `debian push-${push}`);
  const status = await base.waitForStatus('all are examined', ({ images }) => (images?.current ?? 0) + (images?.behind ?? 0) === pushes);
  assert.deepEqual([status.images?.current, status.images?.behind], [1, pushes - 1]);
  assert.equal(readyOf(status)?.reason, 'ImagesBehind');
});

test('a policy of a base created after the tag was moved reports which images are behind, and which may be', async () => {
  const base = baseWorld('late');
  const { digest } = await base.push('21', 'ubi early');
  await base.push('21', 'ubi now');
  const named = { 'org.opencontainers.image.base.name': `${base.image}:21`, 'org.opencontainers.image.base.digest': digest };
  const lost = { ...named, 'org.opencontainers.image.base.digest': `sha256:${'0'.repeat(64)}` };
  await base.deploy('named', 'ubi early', { indexAnnotations: named });
  await base.deploy('twin', 'ubi early');
  await base.deploy('lost', 'ubi older', { indexAnnotations: lost });
  await base.deploy('silent', 'ubi oldest');
  await base.deploy('current', 'ubi now');
  await base.watch({ select: { digest: { tag: '21' } } });
  const status = await base.waitForStatus('all are examined', ({ images }) => (images?.current ?? 0) === 1 && images?.unknown === 1);
  assert.deepEqual(statesOf(status, 'late').toSorted(), [
    'current: Current on 21',
    'lost: Behind on 21',
    'named: Behind on 21',
    'silent: Unknown',
    `twin: Behind on ${digest}`,
  ]);
});

test('images are compared with all of 130 tags of a base', async () => {
  const base = baseWorld('many');
  for (let patch = 0; patch < 130; patch++) await base.push(`1.0.${patch}`, `suse patch-${patch}`);
  await base.deploy('oldest', 'suse patch-0');
  await base.deploy('newest', 'suse patch-129');
  await base.watch({ select: { semver: {} } });
  const status = await base.waitForStatus('all are compared', ({ versions }) => versions?.known === 130 && versions.unread === 0);
  assert.deepEqual(statesOf(status, 'many').toSorted(), ['newest: Current on 1.0.129', 'oldest: Behind on 1.0.0']);
});
