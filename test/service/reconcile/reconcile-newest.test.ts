/** select.newest: names say nothing, so images are asked when they were created. What is asked, and how often, is counted. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import type { Ports } from '../../../src/service/reconcile/ports.ts';
import type { ReconcileRequest } from '../../../src/service/reconcile/attempt.ts';
import { createTagMemory } from '../../../src/service/reconcile/registry-memory.ts';
import { appliedOnce, digestOf, policyOf, specOf, webDeployment } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, type World, withPorts, type PortOverrides } from './world.ts';

const signal = new AbortController().signal;
const { namespace, name, uid } = policyOf();

/** Tag → day of March 2026 on which its image was created; shop/web runs the first of them. */
function start(days: Record<string, number | undefined>, spec: Partial<PolicySpec> = {}): World {
  const world = createWorld();
  world.tags.clear();
  for (const [index, [tag, day]] of Object.entries(days).entries()) putTag(world, tag, index, day);
  setWorkload(world, { web: `${image}:${Object.keys(days)[0]}` });
  world.put(policyOf({ spec: specOf({ strategy: strategies.newest(), ...spec }) }));
  return world;
}

function putTag(world: World, tag: string, index: number, day: number | undefined): void {
  const digest = digestOf('0123456789abcdef'[index] ?? 'f');
  world.tags.set(tag, digest);
  world.facts.set(digest, day === undefined ? {} : { created: new Date(Date.UTC(2026, 2, day)) });
}

const reconcile = (world: World, request: Partial<ReconcileRequest> = {}, ports: PortOverrides = {}) =>
  reconcilePolicy({ policy: { namespace, name, uid }, announced: false, ...request }, withPorts(world.ports, ports), signal);
const push = (world: World, tag: string) => processPush(pushOf({ tag, digest: world.tags.get(tag) ?? '' }), contextOf(), world.ports);
const reconcileJob = (world: World) =>
  processTask(
    { schema: 1, policy: { namespace, name, uid }, source: 'Poll', cause: 'poll', receivedAt: '2026-03-01T12:00:00Z' },
    contextOf(),
    world.ports,
  );

test('the strategy newest selects the tag whose image was created last', async () => {
  const world = start({ a: 1, b: 3, c: 2 });
  await reconcileJob(world);
  assert.deepEqual(world.images(), [`${image}:b`]);
  assert.deepEqual(world.statusOf('web').latest?.createdAt, '2026-03-03T00:00:00.000Z');
});

test('the strategy newest does not request a tag that the filter excludes by its name', async () => {
  const world = start({ 'main-a': 1, 'pr-7': 3, 'main-b': 2 }, { strategy: filterTags(strategies.newest(), { allow: 'main-.*' }) });
  await reconcileJob(world);
  assert.deepEqual(world.images(), [`${image}:main-b`]);
  assert.ok(!world.requests.includes('HEAD pr-7'), world.requests.join());
});

test('with the strategy newest a push costs one HEAD and one image, never a list, once the running image is known', async () => {
  const world = start({ a: 1 });
  await reconcileJob(world);
  for (const [index, tag] of ['b', 'c'].entries()) {
    putTag(world, tag, index + 1, index + 2);
    world.requests.length = 0;
    await push(world, tag);
    assert.deepEqual(world.requests, [`HEAD ${tag}`, `READ ${index + 1}`, 'PATCH web']);
  }
});

test('after a restart the strategy newest takes the creation time of the selection from the status, without a request', async () => {
  const world = start({ a: 1, b: 2 });
  await reconcileJob(world);
  putTag(world, 'c', 2, 3);
  world.requests.length = 0;
  const tagMemory = createTagMemory();
  const hint = { tag: 'c', digest: digestOf('2') };
  const outcome = await reconcile(world, { hint, announced: true }, { registry: { tagMemory } });
  assert.deepEqual([outcome.kind, world.requests], ['updated', ['HEAD c', 'READ 2', 'PATCH web']]);
});

test('a push of an image created before the running one changes nothing', async () => {
  const world = start({ a: 5, b: 2 });
  const outcome = await reconcile(world, { hint: { tag: 'b', digest: digestOf('1') }, announced: true });
  assert.deepEqual([outcome.kind, outcome.reason], ['unchanged', 'OlderThanRunning']);
  assert.deepEqual(world.requests, ['HEAD b', 'READ 1', 'HEAD a', 'READ 0']);
});

test('a tag that moves to a newer image is followed where digests are pinned', async () => {
  const world = start({ main: 1 }, { pin: 'Digest' });
  setWorkload(world, { web: `${image}:main@${digestOf('0')}` });
  await reconcileJob(world);
  putTag(world, 'main', 7, 9);
  await push(world, 'main');
  assert.deepEqual(world.images(), [`${image}:main@${digestOf('7')}`]);
});

test('the strategy newest ignores a push of an image without a creation time, and the result says so', async () => {
  const world = start({ a: 1, b: undefined });
  const outcome = await reconcile(world, { hint: { tag: 'b', digest: digestOf('1') }, announced: true });
  assert.deepEqual([outcome.kind, outcome.reason], ['ignored', 'NotSelected']);
  assert.match(outcome.message, /does not say when it was created/);
});

test('the strategy newest stalls a policy whose repository has no creation times, with an example', async () => {
  const outcome = await reconcile(start({ a: undefined, b2: undefined }));
  assert.deepEqual([outcome.kind, outcome.reason], ['stalled', 'NoMatchingTag']);
  assert.match(outcome.message, /none of the 2 tags .* was created last; for example the image of "b2" does not say/);
});

test('a running image that was deleted from the registry is never downgraded, whatever causes the reconcile', async () => {
  const world = start({ a: 5, b: 2 });
  await reconcileJob(world);
  assert.equal(world.statusOf('web').latest?.tag, 'a');
  world.tags.delete('a');
  for (const tagMemory of [world.ports.registry.tagMemory, createTagMemory(), createTagMemory()]) {
    await processTask(
      { schema: 1, policy: { namespace, name, uid }, source: 'Poll', cause: 'poll', receivedAt: '2026-03-01T12:00:00Z' },
      contextOf(),
      withPorts(world.ports, { registry: { tagMemory } }),
    );
    assert.deepEqual([world.images(), world.statusOf('web').latest?.tag], [[`${image}:a`], 'a']);
  }
  putTag(world, 'c', 2, 6);
  await push(world, 'c');
  assert.deepEqual(world.images(), [`${image}:c`]);
});

test('a running image that was deleted and never selected cannot be compared, and the reason is reported', async () => {
  const world = start({ a: 5, b: 2 });
  world.tags.delete('a');
  world.put(policyOf({ spec: specOf({ strategy: strategies.newest() }), status: { history: appliedOnce('z') } }));
  const outcome = await reconcile(world);
  assert.deepEqual([outcome.kind, outcome.reason], ['stalled', 'NotComparable']);
  assert.match(outcome.message, /of "a" it is not known when it was created/);
});

test('the strategy newest reads a bounded number of images in each reconcile, the likely newest first, and then continues', async () => {
  const world = start({ 'build-1': 1 });
  for (let build = 2; build <= 250; build++) {
    const digest = `sha256:${String(build).padStart(64, '0')}`;
    world.tags.set(`build-${build}`, digest);
    world.facts.set(digest, { created: new Date(Date.UTC(2026, 2, 1, 0, build)) });
  }
  const first = await reconcile(world);
  assert.deepEqual([first.tag, world.images()], ['build-250', [`${image}:build-250`]]);
  assert.match(first.message, /150 of 250 tags were not read yet \(100 in each reconcile\): narrow them with tags\.allow/);
  const heads = () => world.requests.filter((request) => request.startsWith('HEAD')).map((request) => request.slice(5));
  assert.ok(heads().includes('build-1') && heads().includes('build-152') && !heads().includes('build-151'));
  await reconcile(world);
  const third = await reconcile(world);
  assert.doesNotMatch(third.message, /not looked at yet/);
  assert.equal(new Set(heads()).size, 250);
});

test('policies with the strategy newest share what was recently read of a repository', async () => {
  const world = start({ a: 1, b: 2, c: 3 });
  await reconcileJob(world);
  world.put(policyOf({ name: 'other', spec: specOf({ strategy: strategies.newest(), targets: [{ ...webDeployment, name: 'other' }] }) }));
  setWorkload(world, { web: `${image}:a` }, { name: 'other' });
  world.requests.length = 0;
  const other = { namespace, name: 'other', uid: policyOf({ name: 'other' }).uid };
  assert.equal((await reconcile(world, { policy: other })).tag, 'c');
  assert.deepEqual(world.requests, ['LIST shop/web', 'HEAD a', 'HEAD c', 'PATCH other']);
});

test('an image that cannot be read does not prevent the selection of others, unless all cannot be read', async () => {
  const world = start({ a: 1, b: 3, c: 2 });
  const broken = new Error('500');
  const readImage: Ports['registry']['readImage'] = (source, reference, signal) =>
    reference === 'b' ? Promise.reject(broken) : world.ports.registry.readImage(source, reference, signal);
  const outcome = await reconcile(world, {}, { registry: { readImage } });
  assert.deepEqual([outcome.kind, world.images()], ['updated', [`${image}:c`]]);
  assert.match(outcome.message, /1 images could not be read, among them b: 500/);
  await assert.rejects(
    reconcile(world, {}, { registry: { readImage: () => Promise.reject(broken), tagMemory: createTagMemory() } }),
    broken,
  );
});

test('a running image that cannot be read is retried, and not taken for an old one', async () => {
  const world = start({ a: 5, b: 2 });
  const broken = new Error('500');
  const readImage: Ports['registry']['readImage'] = (source, reference, signal) =>
    reference === 'a' ? Promise.reject(broken) : world.ports.registry.readImage(source, reference, signal);
  await assert.rejects(reconcile(world, {}, { registry: { readImage } }), broken);
  await assert.rejects(
    reconcile(world, { hint: { tag: 'b', digest: digestOf('1') }, announced: true }, { registry: { readImage } }),
    broken,
  );
  assert.deepEqual(world.images(), [`${image}:a`]);
});

test('with allowDowngrade the strategy newest applies an image that was created earlier', async () => {
  const world = start({ a: 5, b: 2 }, { allowDowngrade: true });
  await reconcileJob(world);
  world.tags.delete('a');
  await reconcileJob(world);
  assert.deepEqual([world.images(), world.statusOf('web').latest?.tag], [[`${image}:b`], 'b']);
});

describe('an image that was set by hand and that the filter of the policy excludes', () => {
  const strategy = filterTags(strategies.newest(), { allow: 'main-.*' });
  /** `main-1` was applied, `hotfix` was set by hand; then `main-2` is created. */
  async function hotfixed(days: Record<'main-1' | 'hotfix' | 'main-2', number | undefined>, written = ':hotfix'): Promise<World> {
    const world = start({ 'main-0': 1, 'main-1': days['main-1'] }, { strategy });
    await reconcileJob(world);
    putTag(world, 'hotfix', 2, days.hotfix);
    setWorkload(world, { web: { image: image + written, imageOwner: 'kubectl-set' } });
    await reconcileJob(world);
    assert.deepEqual(world.images(), [image + written]);
    putTag(world, 'main-2', 3, days['main-2']);
    return world;
  }

  it('is replaced by a push of an image that was created later', async () => {
    const world = await hotfixed({ 'main-1': 2, hotfix: 4, 'main-2': 5 });
    await push(world, 'main-2');
    assert.deepEqual(world.images(), [`${image}:main-2`]);
  });

  it('is replaced by a poll that finds an image that was created later', async () => {
    const world = await hotfixed({ 'main-1': 2, hotfix: 4, 'main-2': 5 });
    await reconcileJob(world);
    assert.deepEqual(world.images(), [`${image}:main-2`]);
  });

  it('is not replaced by one that was created before it', async () => {
    const world = await hotfixed({ 'main-1': 2, hotfix: 4, 'main-2': 3 });
    const outcome = await reconcile(world);
    assert.deepEqual([outcome.kind, outcome.reason, world.images()], ['unchanged', 'OlderThanRunning', [`${image}:hotfix`]]);
  });

  it('is compared by its age also where it is named by its digest alone', async () => {
    const digest = `@${digestOf('2')}`;
    const world = await hotfixed({ 'main-1': 2, hotfix: 4, 'main-2': 3 }, digest);
    const outcome = await reconcile(world);
    assert.deepEqual([outcome.kind, outcome.reason, world.images()], ['unchanged', 'OlderThanRunning', [image + digest]]);
    putTag(world, 'main-3', 4, 5);
    world.requests.length = 0;
    await push(world, 'main-3');
    assert.deepEqual([world.images(), world.requests], [[`${image}:main-3`], ['HEAD main-3', 'READ 4', 'PATCH web']]);
  });

  it('is kept if it has no creation time, and the reason says so', async () => {
    const world = await hotfixed({ 'main-1': 2, hotfix: undefined, 'main-2': 3 });
    const outcome = await reconcile(world);
    assert.deepEqual([outcome.kind, outcome.reason, world.images()], ['stalled', 'NotComparable', [`${image}:hotfix`]]);
  });
});
