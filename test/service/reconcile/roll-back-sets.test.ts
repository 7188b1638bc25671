/** What a rollback on request brings back of images that are changed together, and what it rejects: the set that it leaves, not each set with its image. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfSet } from '../../../src/core/model/companions.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { digestOf, web } from '../../core/model/samples.ts';
import { policyIn, requestAction } from './asked-world.ts';
import { alongside, look, proxyImage, pushOwn, pushProxy, runs, startAlongside, type AlongsideWorld } from './alongside-world.ts';
import { image, setWorkload } from './world.ts';

const [a, b, c, d, zero] = [digestOf('a'), digestOf('b'), digestOf('c'), digestOf('d'), digestOf('0')];
const setOf = (own: string, other: string, tag = '1.3.0') => digestOfSet(web, own, [{ image: proxyImage, tag, digest: other }]);
const rejectedIn = (world: AlongsideWorld) =>
  world.statusOf('web').rejected?.map(({ digest, setDigest, reason }) => [digest, setDigest, reason]);
const digestsIn = (world: AlongsideWorld) =>
  world
    .images()
    .slice(0, 2)
    .map((text) => text.slice(text.indexOf('@') + 1));

/** Pinned digests: web:1.2.3 with proxy:1.2.3, then web:1.3.0 with proxy:1.3.0. */
async function startPinned(): Promise<AlongsideWorld> {
  const world = startAlongside({ pin: 'Digest' });
  setWorkload(world, { web: `${image}:1.2.3@${a}`, proxy: `${proxyImage}:1.2.3@${zero}` });
  await pushProxy(world, '1.3.0', c);
  await pushOwn(world, '1.3.0', b);
  assert.deepEqual(digestsIn(world), [b, c]);
  return world;
}

test('a rollback rejects the whole set: its image is not applied with the same companion, and is with another one', async () => {
  const world = await startPinned();
  await requestAction(world, { rollbackTo: 'previous' });
  assert.deepEqual(digestsIn(world), [a, zero]);
  assert.deepEqual(rejectedIn(world), [[b, setOf(b, c), 'RollbackRequested']]);
  await look(world);
  assert.deepEqual(digestsIn(world), [a, zero]);
  await pushProxy(world, '1.3.0', d);
  assert.deepEqual(digestsIn(world), [b, d]);
});

test('a rollback after a change of companions alone restores the previous companions with the same image', async () => {
  const world = await startPinned();
  await pushProxy(world, '1.3.0', d);
  assert.deepEqual(digestsIn(world), [b, d]);
  await requestAction(world, { rollbackTo: 'previous' });
  assert.deepEqual(digestsIn(world), [b, c]);
  assert.deepEqual(rejectedIn(world), [[b, setOf(b, d), 'RollbackRequested']]);
  const [back] = world.statusOf('web').history ?? [];
  assert.deepEqual([back?.trigger, back?.setDigest], ['Rollback', setOf(b, c)]);
  await look(world);
  assert.deepEqual(digestsIn(world), [b, c], 'the set that was left stays rejected');
  // Asked for once more, it goes on to the image before.
  await requestAction(world, { ...policyIn(world).actions, rollbackTo: 'previous again' });
  assert.deepEqual(digestsIn(world), [a, zero]);
});

test('a rollback to a named tag restores the companions that ran with it', async () => {
  const world = await startPinned();
  await requestAction(world, { rollbackTo: '1.2.3' });
  assert.deepEqual(digestsIn(world), [a, zero]);
  assert.deepEqual(rejectedIn(world), [[b, setOf(b, c), 'RollbackRequested']]);
});

test('a rollback while the image that it leaves waits for its companion rejects each set with that image', async () => {
  const world = await startPinned();
  await pushOwn(world, '1.4.0', d);
  assert.equal(world.statusOf('web').waiting?.reason, 'CompanionMissing');
  await requestAction(world, { rollbackTo: 'previous' });
  const sets = new Map(world.statusOf('web').rejected?.map(({ digest, setDigest }) => [digest, setDigest]));
  assert.deepEqual([sets.size, sets.get(b), sets.get(d)], [2, setOf(b, c), undefined]);
  await pushProxy(world, '1.4.0', a);
  assert.deepEqual(digestsIn(world), [a, zero]);
});

test('the set that a rollback restores is decided once, even if a tag of a companion moves in between', async () => {
  const strategy = strategies.digest({ tag: 'latest' });
  const world = startAlongside({ strategy, pin: 'Digest', alongside: { ...alongside, match: 'SameRevision' } });
  world.revisions.set(a, '1').set(zero, '1').set(b, '2').set(c, '2');
  setWorkload(world, { web: `${image}:latest@${a}`, proxy: `${proxyImage}:latest@${zero}` });
  await pushProxy(world, 'latest', c);
  await pushOwn(world, 'latest', b);
  assert.deepEqual(digestsIn(world), [b, c]);
  const request = 'previous once';
  const companions = [{ image: proxyImage, tag: 'latest', digest: zero }];
  const status = { ...policyIn(world).status, rollback: { request, tag: 'latest', digest: a, companions } };
  world.put({ ...policyIn(world), status });
  world.companions.get('shop/proxy')?.set('latest', d);
  await requestAction(world, { rollbackTo: request });
  assert.deepEqual(digestsIn(world), [a, zero]);
  assert.deepEqual(runs(world), ['latest', 'latest']);
});
