import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfirmedReader } from '../../src/bases/confirmed-reader.ts';
import { createObjectStore, type StoredObject } from '../../src/service/kube/object-store.ts';
import { confirmedForMs } from '../../src/core/model/confirmation.ts';

const stored: StoredObject = { namespace: 'platform', name: 'java', uid: 'u', resourceVersion: '10' };

/** The object platform/java as the cache has it; the test sets what the API server has, how long it takes to answer, and whether the watch is heard from. */
function world() {
  const objects = createObjectStore<StoredObject>();
  objects.put(stored);
  const state = { live: stored as StoredObject | undefined, quietMs: 60_000, answersMs: 0, reads: 0, reconnects: 0, now: 0 };
  const readConfirmed = createConfirmedReader({
    objects,
    watchOf: () => ({
      state: () => ({ synced: true, connected: true, isForbidden: false, objects: 1, quietMs: state.quietMs }),
      reconnect: () => void state.reconnects++,
    }),
    read: async () => {
      state.reads++;
      state.now += state.answersMs;
      return state.live;
    },
    monotonicNow: () => state.now,
  });
  return { objects, state, read: () => readConfirmed(stored, new AbortController().signal) };
}

test('a policy is confirmed without a request if its watch has received something recently', async () => {
  const { state, read } = world();
  state.quietMs = confirmedForMs - 1;
  state.now = 10_000;
  assert.deepEqual(await read(), { object: stored, confirmedAt: 10_001 - confirmedForMs });
  assert.equal(state.reads, 0);
});

test('all confirmations of a policy within 3 s share one request while its watch is quiet', async () => {
  const { state, read } = world();
  for (const one of await Promise.all(Array.from({ length: 100 }, read))) assert.deepEqual(one, { object: stored, confirmedAt: 0 });
  state.now = confirmedForMs - 1;
  await read();
  assert.deepEqual([state.reads, state.reconnects], [1, 0]);
  state.now = confirmedForMs;
  await read();
  assert.equal(state.reads, 2);
});

for (const [what, live] of [
  ['was changed', { ...stored, resourceVersion: '11' }],
  ['was deleted', undefined],
  ['was created anew under its name', { ...stored, uid: 'other', resourceVersion: '12' }],
] as const)
  test(`a policy that ${what} is detected although the watch has not reported it, and the watch is reopened`, async () => {
    const { objects, state, read } = world();
    state.live = live;
    assert.deepEqual((await read()).object, live);
    assert.deepEqual(objects.get('platform', 'java'), live);
    assert.equal(state.reconnects, 1);
  });

test('a policy that the watch has not delivered yet is read from the API server', async () => {
  const { objects, read } = world();
  objects.remove(stored);
  assert.equal((await read()).object, stored);
  assert.equal(objects.get('platform', 'java'), undefined);
});

test('an answer of the API server after more than 3 s does not confirm a policy: two more requests follow, then an error', async () => {
  const { state, read } = world();
  state.answersMs = confirmedForMs;
  await assert.rejects(read(), /took more than 3000 ms to answer whether platform\/java has changed/);
  assert.equal(state.reads, 3);
});

test('a failed request does not confirm a policy, and the next confirmation sends another one', async () => {
  const objects = createObjectStore<StoredObject>();
  objects.put(stored);
  let failures = 1;
  const readConfirmed = createConfirmedReader({
    objects,
    watchOf: () => undefined,
    read: async () => {
      if (failures-- > 0) throw new Error('no answer');
      return stored;
    },
  });
  const { signal } = new AbortController();
  await assert.rejects(readConfirmed(stored, signal), /no answer/);
  assert.equal((await readConfirmed(stored, signal)).object, stored);
});
