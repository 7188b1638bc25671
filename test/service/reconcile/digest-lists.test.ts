/** Images that are changed together because one of them lists the others by their digests (`alongside.match: SameDigestList`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfSet } from '../../../src/core/model/companions.ts';
import { imageListAnnotation, readImageList } from '../../../src/core/model/image-list.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { ResolveTag } from '../../../src/service/reconcile/ports.ts';
import { digestOf, web } from '../../core/model/samples.ts';
import { requestAction } from './asked-world.ts';
import { alongside, look, proxyImage, pushOwn, pushProxy, runs, startAlongside, type AlongsideWorld } from './alongside-world.ts';
import { image, setWorkload, type PortOverrides } from './world.ts';

const [a, b, c, d] = [digestOf('a'), digestOf('b'), digestOf('c'), digestOf('d')];
const [before, minute] = [digestOf('0'), 60_000];
const listed: NonNullable<PolicySpec['alongside']> = { ...alongside, match: 'SameDigestList' };

/** Writes the list of an image into its annotations. */
function setList({ lists }: AlongsideWorld, digest: string, written: string): void {
  const list = readImageList({ [imageListAnnotation]: written });
  if (list !== undefined) lists.set(digest, list);
}

/** A world in which 1.2.3 lists the sidecar that runs, and the image with digest b what is given. */
function startListed(list: string | undefined, spec: Partial<PolicySpec> = {}, overrides: PortOverrides = {}): AlongsideWorld {
  const world = startAlongside({ alongside: listed, ...spec }, overrides);
  setList(world, a, `${proxyImage}:1.2.3@${before}`);
  if (spec.pin === 'Digest') setWorkload(world, { web: `${image}:1.2.3@${a}`, proxy: `${proxyImage}:1.2.3@${before}` });
  if (list !== undefined) setList(world, b, list);
  return world;
}

const patches = ({ requests }: AlongsideWorld) => requests.filter((request) => request.startsWith('PATCH')).length;
const pair = (world: AlongsideWorld) => world.images().slice(0, 2);
const said = (world: AlongsideWorld) => world.statusOf('web').conditions?.[0]?.message ?? '';

test('an image and its listed companion wait for each other, and one patch changes both as the list says', async () => {
  for (const pin of ['Tag', 'Digest'] as const)
    for (const order of ['own', 'proxy'] as const) {
      const world = startListed(`registry.example.com/shop/other:7@${d}, ${proxyImage}:build-77@${c}`, { pin });
      const pushes = [() => pushOwn(world, '1.3.0', b), () => pushProxy(world, 'build-77', c)];
      const [first, second] = order === 'own' ? pushes : pushes.toReversed();
      await first?.();
      assert.deepEqual(runs(world), ['1.2.3', '1.2.3'], `${pin}, ${order} first`);
      await second?.();
      const written = (tag: string, digest: string) => (pin === 'Digest' ? `${tag}@${digest}` : tag);
      assert.deepEqual(pair(world), [`${image}:${written('1.3.0', b)}`, `${proxyImage}:${written('build-77', c)}`]);
      assert.equal(patches(world), 1);
      const companions = [{ image: proxyImage, tag: 'build-77', digest: c }];
      const { latest, history } = world.statusOf('web');
      assert.deepEqual([latest?.companions, latest?.setDigest], [companions, digestOfSet(web, b, companions)]);
      assert.equal(history?.length, 1);
      await look(world);
      assert.equal(patches(world), 1, 'nothing is changed again');
    }
});

for (const [what, list, why] of [
  ['has no list', undefined, /the image does not list what belongs to it/],
  ['lists only others', `registry.example.com/shop/other:7@${c}`, /does not name it/],
  ['lists the sidecar twice', `${proxyImage}:1.3.0@${c} ${proxyImage}:1.3.0@${d}`, /twice/],
  ['lists what is no image', `${proxyImage}:1.3.0@${c} sha256:`, /entry 2 of the list .* is no image name/],
] as const)
  test(`an image that ${what} waits with that reason and is then passed over, whatever the companion's repository holds`, async () => {
    const world = startListed(list);
    await pushProxy(world, '1.3.0', c);
    await pushOwn(world, '1.3.0', b);
    assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
    const { waiting, incomplete } = world.statusOf('web');
    assert.equal(waiting?.reason, 'CompanionMissing');
    assert.match(incomplete?.[0]?.missing[0] ?? '', why);
    assert.match(said(world), why);
    world.clock.now += 31 * minute;
    await look(world);
    assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
    assert.match(said(world), /passed over: 1\.3\.0 has come without/);
  });

test('a listed digest is applied whatever its tag points to now, where digests are pinned', async () => {
  const world = startListed(`${proxyImage}:1.3.0@${c}`, { pin: 'Digest' });
  await pushProxy(world, 'build-77', c);
  await pushProxy(world, '1.3.0', d);
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(pair(world), [`${image}:1.3.0@${b}`, `${proxyImage}:1.3.0@${c}`]);
});

test('where tags are pinned, an image waits until the listed tag points to the listed digest', async () => {
  const world = startListed(`${proxyImage}:1.3.0@${c}`, { pin: 'Tag' });
  await pushProxy(world, 'build-77', c);
  await pushProxy(world, '1.3.0', d);
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  assert.match(said(world), /proxy:1\.3\.0@sha256:c+ \(its tag does not point to that digest/);
  await pushProxy(world, '1.3.0', c);
  assert.deepEqual(runs(world), ['1.3.0', '1.3.0']);
});

test('a listed digest is not taken from another repository', async () => {
  const world = startListed(`${proxyImage}:1.3.0@${c}`, { pin: 'Digest' });
  world.companions.set('shop/other', new Map([['1.3.0', c]]));
  world.tags.set('copy', c);
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  assert.deepEqual(world.statusOf('web').incomplete?.[0]?.missing, [`${proxyImage}:1.3.0@${c}`]);
});

test('an image list may name the registry of a companion by an alias', async () => {
  const aliases = new Map([['registry.internal:5000', 'registry.example.com']]);
  const world = startListed(`registry.internal:5000/shop/proxy:1.3.0@${c}`, {}, { cluster: { aliases } });
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(pair(world), [`${image}:1.3.0`, `${proxyImage}:1.3.0`], 'the name in the workload stays');
});

test('a listed image that the registry announces before it shows it is waited for', async () => {
  const shown = new Map<string, number>();
  const headManifest: ResolveTag = async ({ path }, reference) => {
    const held = path === 'shop/proxy' ? world.companions.get(path) : world.tags;
    const digest = held?.get(reference) ?? [...(held?.values() ?? [])].find((one) => one === reference);
    const asked = (shown.get(reference) ?? 0) + 1;
    shown.set(reference, asked);
    const isHidden = path === 'shop/proxy' && digest === c && asked === 1;
    return digest === undefined || isHidden ? undefined : { digest };
  };
  const world = startListed(`${proxyImage}:1.3.0@${c}`, { pin: 'Digest' }, { registry: { headManifest } });
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
  await assert.rejects(pushProxy(world, 'build-77', c), { reason: 'NotShownYet' });
  await pushProxy(world, 'build-77', c);
  assert.deepEqual(pair(world), [`${image}:1.3.0@${b}`, `${proxyImage}:1.3.0@${c}`]);
});

test('mutable tags are followed in pairs that one image lists', async () => {
  const strategy = strategies.digest({ tag: 'latest' });
  const world = startListed(`${proxyImage}:latest@${c}`, { strategy, pin: 'Digest' });
  setList(world, a, `${proxyImage}:latest@${before}`);
  setWorkload(world, { web: `${image}:latest@${a}`, proxy: `${proxyImage}:latest@${before}` });
  world.tags.set('latest', a);
  world.companions.get('shop/proxy')?.set('latest', before);
  await pushProxy(world, 'latest', c);
  assert.deepEqual(world.images(), [`${image}:latest@${a}`, `${proxyImage}:latest@${before}`]);
  await pushOwn(world, 'latest', b);
  assert.deepEqual(world.images(), [`${image}:latest@${b}`, `${proxyImage}:latest@${c}`]);
  assert.equal(patches(world), 1);
});

test('a rollback restores the images that ran before, without reading their image lists', async () => {
  const world = startListed(`${proxyImage}:1.3.0@${c}`, { pin: 'Digest' });
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  world.lists.delete(a);
  await requestAction(world, { rollbackTo: 'previous' });
  assert.deepEqual(runs(world), ['1.2.3', '1.2.3']);
});
