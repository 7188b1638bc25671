/** Charts, signatures and other artifacts beside the images of a repository: they are never applied, and keep no image waiting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { processPoll } from '../../../src/service/poll/process-poll.ts';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import type { ReconcileRequest } from '../../../src/service/reconcile/attempt.ts';
import { digestOf, policyOf, specOf, webDeployment } from '../../core/model/samples.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, type World, withPorts, type PortOverrides } from './world.ts';

const signal = new AbortController().signal;
const { namespace, name, uid } = policyOf();
type Tags = [a: string, b: string, c: string];
const chart = 'its configuration is of the type application/vnd.cncf.helm.config.v1+json';
const march = (day: number) => new Date(Date.UTC(2026, 2, day));

const reconcile = (world: World, request: Partial<ReconcileRequest> = {}, ports: PortOverrides = {}) =>
  reconcilePolicy({ policy: { namespace, name, uid }, announced: false, ...request }, withPorts(world.ports, ports), signal);

/** shop/web runs `a`; `b` is an image, `c` a chart; each is newer than the one before in every way. */
function start(spec: Partial<PolicySpec> = {}, [a, b, c]: Tags = ['1.0.1', '1.0.2', '1.0.3']): World {
  const world = createWorld();
  world.tags.clear();
  for (const [index, tag] of [a, b, c].entries()) {
    const digest = digestOf('abc'[index] ?? 'f');
    world.tags.set(tag, digest);
    world.facts.set(digest, { created: march(index + 1), ...(index === 2 && { unusable: { Image: chart }, platforms: [] }) });
  }
  setWorkload(world, { web: `${image}:${a}` });
  world.put(policyOf({ spec: specOf(spec) }));
  return world;
}

const byName: Record<string, [spec: Partial<PolicySpec>, tags?: Tags]> = {
  semver: [{}],
  alphabetical: [{ strategy: strategies.alphabetical() }, ['main-1', 'main-2', 'main-3']],
  numerical: [{ strategy: strategies.numerical() }, ['1', '2', '3']],
  newest: [{ strategy: strategies.newest() }],
  'semver, pinned by digest': [{ pin: 'Digest' }],
};
for (const [what, [spec, tags]] of Object.entries(byName)) {
  test(`the strategy ${what} selects the best image, even if a better tag is not an image`, async () => {
    const world = start(spec, tags);
    const outcome = await reconcile(world);
    const [, b = '1.0.2'] = tags ?? [];
    assert.equal(outcome.kind, 'updated');
    assert.ok(world.images()[0]?.startsWith(`${image}:${b}`), world.images().join());
  });

  test(`with the strategy ${what}, a push of something that is not an image changes nothing, and the result says what it is`, async () => {
    const world = start(spec, tags);
    const [, , c = '1.0.3'] = tags ?? [];
    const outcome = await reconcile(world, { hint: { tag: c, digest: digestOf('c') }, announced: true });
    assert.deepEqual([outcome.kind, outcome.reason], ['ignored', 'NotAnImage']);
    assert.match(outcome.message, /:[^ ]+ is no image that can run: its configuration is of the type .*helm/);
    assert.deepEqual(
      world.requests.filter((request) => request.startsWith('PATCH')),
      [],
    );
  });
}

test('a mutable tag that becomes something other than an image changes nothing', async () => {
  const world = start({ strategy: strategies.digest({ tag: 'latest' }), pin: 'Digest' });
  world.tags.set('latest', digestOf('c'));
  setWorkload(world, { web: `${image}:latest@${digestOf('a')}` });
  // A poll and a push find the same.
  for (const request of [{}, { hint: { tag: 'latest', digest: digestOf('c') }, announced: true }]) {
    const outcome = await reconcile(world, request);
    assert.deepEqual([outcome.kind, outcome.reason], ['stalled', 'NotAnImage']);
    assert.match(outcome.message, /:latest is no image that can run/);
  }
  assert.deepEqual(world.images(), [`${image}:latest@${digestOf('a')}`]);
});

for (const [what, [spec, tags]] of Object.entries(byName)) {
  // Of artifacts no creation time is known.
  const isByTime = what === 'newest';
  test(`with the strategy ${what}, the content of image volumes alone need ${isByTime ? '' : 'not '}be runnable`, async () => {
    const [a, b, c] = tags ?? ['1.0.1', '1.0.2', '1.0.3'];
    const targets = [{ ...webDeployment, volumes: true }];
    const volumes = [{ name: 'volumes/web', image: `${image}:${a}`, index: 0 }];
    const world = start({ ...spec, targets }, tags);
    setWorkload(world, { web: 'busybox:1' }, { volumes });
    for (const request of [{}, { hint: { tag: c, digest: digestOf('c') }, announced: true }]) {
      setWorkload(world, { web: 'busybox:1' }, { volumes });
      const outcome = await reconcile(world, request);
      const isIgnored = isByTime && 'hint' in request;
      const expected = isIgnored ? a : isByTime ? b : c;
      assert.equal(outcome.reason, isIgnored ? 'NotAnImage' : 'Updated', outcome.message);
      const volume = world.workloads.get('Deployment/shop/web')?.volumes?.[0];
      assert.ok(volume?.image.startsWith(`${image}:${expected}`), volume?.image);
      assert.deepEqual(world.images(), ['busybox:1']);
    }
  });

  test(`with the strategy ${what}, the content of a container and an image volume must be runnable`, async () => {
    const [a, b, c] = tags ?? ['1.0.1', '1.0.2', '1.0.3'];
    const world = start({ ...spec, targets: [{ ...webDeployment, volumes: true }] }, tags);
    setWorkload(world, { web: `${image}:${a}` }, { volumes: [{ name: 'volumes/web', image: `${image}:${a}`, index: 0 }] });
    const pushed = await reconcile(world, { hint: { tag: c, digest: digestOf('c') }, announced: true });
    assert.equal(pushed.reason, 'NotAnImage');
    assert.equal((await reconcile(world)).tag, b);
    const { containers = [], volumes = [] } = world.workloads.get('Deployment/shop/web') ?? {};
    for (const one of [...containers, ...volumes]) assert.ok(one.image.startsWith(`${image}:${b}`), one.image);
  });
}

test('a poll finds new content for a target with image volumes alone', async () => {
  const world = start({ targets: [{ ...webDeployment, volumes: true }] }, ['1.0.2', '1.0.1', '1.0.3']);
  setWorkload(world, { web: 'busybox:1' }, { volumes: [{ name: 'volumes/web', image: `${image}:1.0.2`, index: 0 }] });
  const { repository, pollIntervalMs: intervalMs } = specOf();
  await processPoll({ schema: 1, repository, intervalMs, receivedAt: '2026-03-01T12:00:00Z' }, contextOf(), world.ports);
  assert.equal(world.jobs.length, 1);
});

test('the type of a candidate that would change nothing is not requested', async () => {
  const world = start();
  setWorkload(world, { web: `${image}:1.0.3` });
  assert.equal((await reconcile(world, {}, { registry: { whyUnusable: async () => assert.fail('asked') } })).reason, 'UpToDate');
});

test('many tags that are not images do not hide the best image', async () => {
  const world = start();
  for (let patch = 10; patch < 60; patch++) world.tags.set(`1.0.${patch}`, digestOf('c'));
  assert.equal((await reconcile(world)).kind, 'updated');
  assert.deepEqual(world.images(), [`${image}:1.0.2`]);
});

test('the search for an image stops after a hundred tags that are not images', async () => {
  const world = start();
  for (let patch = 10; patch < 300; patch++) world.tags.set(`1.0.${patch}`, digestOf('c'));
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.kind, outcome.reason], ['stalled', 'NotAnImage']);
  assert.match(outcome.message, /:1\.0\.299 is no image that can run: .*, and none of the next 99 can be used/);
  assert.equal(world.requests.filter((request) => request.startsWith('HEAD')).length, 100);
});

test('with the strategy newest, a tag that is not an image does not use up the reads of a reconcile', async () => {
  const world = start({ strategy: strategies.newest() });
  for (let index = 0; index < 250; index++) world.tags.set(`chart-${index}`, digestOf('c'));
  assert.equal((await reconcile(world)).kind, 'updated');
  assert.deepEqual(world.images(), [`${image}:1.0.2`]);
});

test('with the strategy newest, a bounded number of tags that are not images is read in each reconcile', async () => {
  const world = start({ strategy: strategies.newest() });
  for (let index = 0; index < 1_000; index++) world.tags.set(`zz-${index}`, digestOf('c'));
  await reconcile(world).catch(() => {});
  assert.equal(world.requests.filter((request) => request.startsWith('HEAD')).length, 400);
});

test('a poll does not find tags that are not images, and reports no missed webhook', async () => {
  const world = start({}, ['1.0.2', '1.0.1', '1.0.3']);
  const job = {
    schema: 1,
    repository: specOf().repository,
    intervalMs: specOf().pollIntervalMs,
    receivedAt: '2026-03-01T12:00:00Z',
  } as const;
  await processPoll(job, contextOf(), world.ports);
  assert.deepEqual([world.jobs, [...world.unannounced]], [[], []]);
});

test('a chart is not selected as an image, even while the target is missing', async () => {
  const world = start();
  world.workloads.clear();
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.kind, outcome.selection?.candidate.tag], ['stalled', '1.0.2'], outcome.message);
  for (const [tag, digest] of world.tags) if (digest !== digestOf('c')) world.tags.delete(tag);
  const only = await reconcile(world);
  assert.deepEqual([only.kind, only.reason, only.selection], ['stalled', 'NotAnImage', undefined]);
});

test('a tag that is not an image is not shown as selected, even where something newer runs', async () => {
  const world = start({ pin: 'Digest' });
  setWorkload(world, { web: `${image}:2.0.0@${digestOf('d')}` });
  const outcome = await reconcile(world);
  assert.equal(outcome.kind, 'unchanged');
  assert.equal(outcome.selection?.candidate.tag, '1.0.2');
});

test('a tag that changes nothing is examined before it is selected for the first time: it may be no image', async () => {
  for (const [latest, hint] of [
    ['1.0.1', undefined],
    // It was deleted.
    ['1.8.0', undefined],
    ['1.0.1', { tag: '1.0.3' }],
  ] as const) {
    const world = start();
    setWorkload(world, { web: `${image}:1.9.0` });
    world.put(policyOf({ status: { latest: { tag: latest, selectedAt: '2026-01-01T00:00:00Z' } } }));
    const outcome = await reconcile(world, { ...(hint && { hint, announced: true }) });
    if (hint === undefined) assert.equal(outcome.selection?.candidate.tag, '1.0.2', outcome.message);
    else assert.equal(outcome.reason, 'NotAnImage', outcome.message);
  }
});

test('what is no image may have been there before a push without a digest, so the tag is read once more', async () => {
  const { digest: _, ...nameless } = pushOf({ tag: 'latest' });
  for (const [push, expected] of [
    [nameless, ['shown']],
    [{ ...nameless, digest: digestOf('c') }, []],
  ] as const) {
    const world = start({ strategy: strategies.digest({ tag: 'latest' }), pin: 'Digest' });
    world.tags.set('latest', digestOf('c'));
    await processPush(push, contextOf(), world.ports);
    assert.equal(world.statusOf('web').conditions?.[0]?.reason, 'NotAnImage');
    assert.deepEqual(
      world.jobs.map(({ cause }) => cause.split(':')[0]),
      expected,
    );
  }
});
