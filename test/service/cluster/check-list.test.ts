import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createListCheck } from '../../../src/service/cluster/check-list.ts';
import type { KubeClient } from '../../../src/service/kube/client.ts';
import { createObjectStore, type StoredObject } from '../../../src/service/kube/object-store.ts';

const objectOf = (name: string, resourceVersion = '1'): StoredObject => ({ namespace: 'shop', name, uid: name, resourceVersion });

/** A cache of one object, whose watch has been quiet for a minute, and an API server with the same one. */
function world(size = 1) {
  const store = createObjectStore<StoredObject>();
  for (let index = 0; index < size; index++) store.put(objectOf(`known-${index}`));
  const state = { now: 100_000, heardAt: 40_000, lists: 0, listMs: 0, reconnects: 0, isDead: false, listed: [...store.values()] };
  const request = async ({ signal }: { readonly signal?: AbortSignal }): Promise<unknown> => {
    state.lists++;
    if (state.isDead) return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    state.now += state.listMs;
    return { metadata: { resourceVersion: '9' }, items: state.listed.map((metadata) => ({ metadata })) };
  };
  const client = { request } as unknown as KubeClient;
  const reflector = {
    state: () => ({ synced: true, connected: true, isForbidden: false, objects: 1, quietMs: state.now - state.heardAt }),
    reconnect: () => void state.reconnects++,
  };
  const check = createListCheck({
    client,
    resource: { apiVersion: 'example.com/v1', resource: 'things' },
    store,
    watches: () => [{ namespace: undefined, reflector }],
    monotonicNow: () => state.now,
  });
  return { store, state, check: (key: string) => check(key, new AbortController().signal) };
}

test('a list that shows nothing new confirms the cache, once for all callers that ask at the same time', async () => {
  const { state, check } = world();
  const answers = await Promise.all(Array.from({ length: 1_000 }, (_, index) => check(`push-${index}`)));
  assert.deepEqual([new Set(answers), state.lists, state.reconnects], [new Set([true]), 1, 0]);
});

test('a check that is requested while a list is read waits for another list', async () => {
  const { store, state, check } = world();
  const first = check('push-1');
  while (state.lists === 0) await Promise.resolve();
  state.listed = [...store.values(), objectOf('created-meanwhile')];
  const second = check('push-2');
  assert.deepEqual([await first, await second, state.lists], [true, false, 2]);
});

test('checks spend at most a fifth of the time on lists', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { state, check } = world();
  state.listMs = 100;
  await check('push-1');
  const second = check('push-2');
  for (const [restMs, lists] of [
    [399, 1],
    [1, 2],
  ] as const) {
    t.mock.timers.tick(restMs);
    await turn();
    assert.equal(state.lists, lists);
  }
  assert.equal(await second, true);
});

for (const [what, missed] of [
  ['created', objectOf('new')],
  ['changed', objectOf('known-0', '2')],
] as const)
  test(`an object that was ${what} unseen makes the cache unconfirmed, and the watch is reopened`, async () => {
    const { store, state, check } = world();
    state.listed = [missed];
    assert.equal(await check('push'), false);
    assert.equal(state.reconnects, 1);
    store.put(missed);
    assert.equal(await check('push'), true);
  });

test('a watch that receives something after the question confirms the cache without a list', async () => {
  const { state, check } = world(3_000);
  assert.equal(await check('push'), false, 'so many objects are not listed, but waited for');
  state.now = 160_000;
  assert.equal(await check('push'), false);
  state.heardAt = 159_000;
  assert.equal(await check('push'), true);
  assert.equal(await check('another push'), false, 'which came after that');
  assert.equal(state.lists, 0);
});

test('a list on a dead connection is given up, and the next one follows soon', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { state, check } = world();
  state.isDead = true;
  const first = check('push');
  await turn();
  state.now += 5_000;
  t.mock.timers.tick(5_000);
  await assert.rejects(first, /no complete answer within 5000 ms/);
  state.isDead = false;
  const second = check('push');
  t.mock.timers.tick(10_000);
  assert.deepEqual([await second, state.lists], [true, 2]);
});
