import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createObjectStore, type StoredObject } from '../../../src/service/kube/object-store.ts';
import { createSecretCache } from '../../../src/service/cluster/secret-cache.ts';
import type { SecretRead } from '../../../src/service/kube/secrets.ts';

const creds = { namespace: 'shop', name: 'creds' };

/** One Secret, as the API server has it and as the watch shows it, and a clock. */
function createWorld({ isWatched = true } = {}) {
  const watched = createObjectStore<StoredObject>();
  const state = { now: 0, reads: 0, isWatched, failure: undefined as Error | undefined, stored: { why: 'does not exist' } as SecretRead };
  const read = createSecretCache({
    read: async () => {
      state.reads++;
      if (state.failure) throw state.failure;
      return state.stored;
    },
    watched,
    isWatched: () => state.isWatched,
    elapsed: () => state.now,
  });
  const write = (resourceVersion: string) => (state.stored = { data: { version: resourceVersion }, resourceVersion });
  const show = (resourceVersion: string) => watched.put({ ...creds, uid: 'u', resourceVersion });
  const content = async (refresh = false) => {
    const found = await read(creds, { refresh });
    return 'why' in found ? found.why : found.data['version'];
  };
  return Object.assign(state, { watched, write, show, content, read });
}

test('a cached Secret is used while the watch shows its version, and is read again as soon as it changes', async () => {
  const world = createWorld();
  world.write('1');
  world.show('1');
  assert.equal(await world.content(), '1');
  world.now = 86_400_000;
  assert.equal(await world.content(), '1');
  assert.equal(world.reads, 1);
  world.write('2');
  assert.equal(await world.content(), '1');
  world.show('2');
  assert.equal(await world.content(), '2');
  assert.equal(world.reads, 2);
});

test('a watch that lags behind does not bring back an old version of a Secret', async () => {
  const world = createWorld();
  world.write('2');
  world.show('1');
  assert.equal(await world.content(), '2');
  world.write('3');
  assert.equal(await world.content(), '2');
});

test('the creation and the deletion of a Secret are noticed', async () => {
  const world = createWorld();
  assert.equal(await world.content(), 'does not exist');
  world.write('1');
  world.show('1');
  assert.equal(await world.content(), '1');
  world.stored = { why: 'does not exist' };
  world.watched.remove({ ...creds, resourceVersion: '2' });
  assert.equal(await world.content(), 'does not exist');
});

for (const [name, prepare] of [
  ['is not watched', (it: ReturnType<typeof createWorld>) => (it.isWatched = false)],
  ['is watched and missing', (it: ReturnType<typeof createWorld>) => (it.stored = { why: 'may not be read' })],
] as const) {
  test(`a Secret that ${name} is read again after 30 s`, async () => {
    const world = createWorld();
    if (name === 'is not watched') world.write('1');
    prepare(world);
    await world.content();
    world.now = 29_999;
    await world.content();
    assert.equal(world.reads, 1);
    world.now = 30_000;
    await world.content();
    assert.equal(world.reads, 2);
  });
}

test('the same content of a Secret yields the same object, even when it was read twice', async () => {
  const world = createWorld({ isWatched: false });
  world.write('1');
  const first = await world.read(creds, { refresh: false });
  world.write('1');
  assert.equal(await world.read(creds, { refresh: true }), first);
  world.write('2');
  assert.notEqual(await world.read(creds, { refresh: true }), first);
});

test('simultaneous readers of a Secret share one request', async () => {
  const world = createWorld();
  await Promise.all([world.content(), world.content(), world.content(true)]);
  assert.equal(world.reads, 1);
});

test('a reader that knows of a change of a Secret does not share a request that started before it', async () => {
  const world = createWorld();
  world.write('1');
  world.show('1');
  const before = world.content();
  world.write('2');
  world.show('2');
  assert.deepEqual(await Promise.all([before, world.content()]), ['2', '2']);
  assert.equal(world.reads, 2);
});

test('while the Secret cannot be read its last content is used, but a refresh reports the failure', async () => {
  const world = createWorld({ isWatched: false });
  world.write('1');
  await world.content();
  world.failure = new Error('connection refused');
  world.now = 60_000;
  assert.equal(await world.content(), '1');
  await assert.rejects(world.content(true), { message: 'Secret shop/creds cannot be read', cause: world.failure });
  world.failure = undefined;
  world.write('2');
  assert.equal(await world.content(), '2');
});

test('a Secret that could never be read is an error', async () => {
  const world = createWorld();
  world.failure = new Error('connection refused');
  await assert.rejects(world.content(), /Secret shop\/creds cannot be read/);
});
