import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createObjectStore, type StoredObject } from '../../src/kube/object-store.ts';
import { createSecretCache } from '../../src/cluster/secret-cache.ts';
import type { SecretRead } from '../../src/kube/secrets.ts';

const creds = { namespace: 'shop', name: 'creds' };

/** One Secret, as the API server has it and as the watch shows it, and a clock. */
function world({ isWatched = true } = {}) {
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
    now: () => state.now,
  });
  const write = (resourceVersion: string) => (state.stored = { data: { version: resourceVersion }, resourceVersion });
  const show = (resourceVersion: string) => watched.put({ ...creds, uid: 'u', resourceVersion });
  const content = async (refresh = false) => {
    const found = await read(creds, { refresh });
    return 'why' in found ? found.why : found.data['version'];
  };
  return Object.assign(state, { watched, write, show, content, read });
}

test('a cached Secret is used while the watch shows the same version, and a changed one is read at once', async () => {
  const it = world();
  it.write('1');
  it.show('1');
  assert.equal(await it.content(), '1');
  it.now = 86_400_000;
  assert.equal(await it.content(), '1');
  assert.equal(it.reads, 1);
  it.write('2');
  assert.equal(await it.content(), '1');
  it.show('2');
  assert.equal(await it.content(), '2');
  assert.equal(it.reads, 2);
});

test('a watch that lags behind does not bring back an old version', async () => {
  const it = world();
  it.write('2');
  it.show('1');
  assert.equal(await it.content(), '2');
  it.write('3');
  assert.equal(await it.content(), '2');
});

test('a Secret that is created or deleted is noticed', async () => {
  const it = world();
  assert.equal(await it.content(), 'does not exist');
  it.write('1');
  it.show('1');
  assert.equal(await it.content(), '1');
  it.stored = { why: 'does not exist' };
  it.watched.remove({ ...creds, resourceVersion: '2' });
  assert.equal(await it.content(), 'does not exist');
});

for (const [name, prepare] of [
  ['is not watched', (it: ReturnType<typeof world>) => (it.isWatched = false)],
  ['is watched and missing', (it: ReturnType<typeof world>) => (it.stored = { why: 'may not be read' })],
] as const) {
  test(`a Secret that ${name} is read again after 30 s`, async () => {
    const it = world();
    if (name === 'is not watched') it.write('1');
    prepare(it);
    await it.content();
    it.now = 29_999;
    await it.content();
    assert.equal(it.reads, 1);
    it.now = 30_000;
    await it.content();
    assert.equal(it.reads, 2);
  });
}

test('the same content yields the same object, even when it was read twice', async () => {
  const it = world({ isWatched: false });
  it.write('1');
  const first = await it.read(creds, { refresh: false });
  it.write('1');
  assert.equal(await it.read(creds, { refresh: true }), first);
  it.write('2');
  assert.notEqual(await it.read(creds, { refresh: true }), first);
});

test('simultaneous readers share one request', async () => {
  const it = world();
  await Promise.all([it.content(), it.content(), it.content(true)]);
  assert.equal(it.reads, 1);
});

test('a reader that knows of a change does not share a request that started before it', async () => {
  const it = world();
  it.write('1');
  it.show('1');
  const before = it.content();
  it.write('2');
  it.show('2');
  assert.deepEqual(await Promise.all([before, it.content()]), ['2', '2']);
  assert.equal(it.reads, 2);
});

test('while the Secret cannot be read its last content is used, but a refresh reports the failure', async () => {
  const it = world({ isWatched: false });
  it.write('1');
  await it.content();
  it.failure = new Error('connection refused');
  it.now = 60_000;
  assert.equal(await it.content(), '1');
  await assert.rejects(it.content(true), { message: 'Secret shop/creds cannot be read', cause: it.failure });
  it.failure = undefined;
  it.write('2');
  assert.equal(await it.content(), '2');
});

test('a Secret that could never be read is an error', async () => {
  const it = world();
  it.failure = new Error('connection refused');
  await assert.rejects(it.content(), /Secret shop\/creds cannot be read/);
});
