import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDependentsStore, joinDependents, keptLimits } from '../../../src/bases/record/kept-dependents.ts';
import type { Dependent } from '../../../src/core/model/base-status.ts';

const base = `sha256:${'b'.repeat(64)}`;
const policy = { uid: 'u1' };
const dependentOf = (name: string, more: Partial<Dependent> = {}): Dependent => ({
  image: `harbor.example.com/shop/${name}:1`,
  state: 'Behind',
  workloads: 1,
  ...more,
});

function start() {
  const texts = new Map<string, string>();
  let writes = 0;
  let now = 0;
  const store = createDependentsStore(
    {
      has: (key) => Promise.resolve(texts.has(key)),
      read: (key) => Promise.resolve(texts.get(key)),
      write: (key, text) => Promise.resolve(void (texts.set(key, text), writes++)),
    },
    () => now,
  );
  return { store, texts, writes: () => writes, pass: (ms: number) => void (now += ms) };
}

test('dependents kept in Redis are read again, and written only if they have changed, are lost or would expire', async () => {
  const { store, texts, writes, pass } = start();
  const kept = { base, dependents: [dependentOf('a'), dependentOf('b')] };
  await store.keep(policy, kept);
  await store.keep(policy, kept);
  assert.deepEqual([await store.read(policy), writes()], [kept, 1]);
  texts.clear();
  await store.keep(policy, kept);
  assert.equal(writes(), 2);
  pass(3_600_000);
  await store.keep(policy, kept);
  await store.keep(policy, { ...kept, dependents: [] });
  assert.equal(writes(), 4);
  assert.equal(await store.read({ uid: 'u2' }), undefined);
});

test('dependents that exceed the bound of the text in Redis are left out from the end', async () => {
  const { store, texts } = start();
  const dependents = Array.from({ length: 2_000 }, (_, index) => dependentOf(`app-${index}`, { message: 'x'.repeat(1_000) }));
  await store.keep(policy, { base, dependents });
  assert.ok(Buffer.byteLength(texts.get('u1') ?? '') <= keptLimits.maxText);
  const read = await store.read(policy);
  assert.ok(read !== undefined && read.dependents.length > 900);
  assert.deepEqual(read.dependents[0], dependents[0]);
});

for (const [name, text] of [
  ['not JSON', '{"base":'],
  ['of another shape', '{"base":"b","dependents":[{"image":1}]}'],
  ['with an unknown state', `{"base":"b","dependents":[{"image":"a","state":"<b>","workloads":1}]}`],
  ['with too many dependents', JSON.stringify({ base: 'b', dependents: Array.from({ length: 5_001 }, () => dependentOf('a')) })],
] as const)
  test(`a text about dependents in Redis that is ${name} counts as missing`, async () => {
    const { store, texts } = start();
    texts.set('u1', text);
    assert.equal(await store.read(policy), undefined);
  });

test('the status takes precedence over kept dependents, and those compared with another base are left out', () => {
  const shown = dependentOf('a', { state: 'Updating' });
  const status = { latest: { tag: '21', digest: base, selectedAt: '2026-03-01T09:00:00Z' }, dependents: [shown] };
  const dependents = [dependentOf('a'), dependentOf('b')];
  assert.deepEqual(joinDependents(status, { base, dependents }), [shown, dependentOf('b')]);
  assert.deepEqual(joinDependents(status, { base: `sha256:${'c'.repeat(64)}`, dependents }), [shown]);
  assert.deepEqual(joinDependents(status, undefined), [shown]);
});

test('the event loop continues while thousands of dependents are read', async () => {
  const { store } = start();
  const kept = { base, dependents: Array.from({ length: 5_000 }, (_, index) => dependentOf(`app-${index}`, { message: 'x'.repeat(50) })) };
  await store.keep(policy, kept);
  let turns = 0;
  const count = () => {
    turns++;
    pending = setImmediate(count);
  };
  let pending = setImmediate(count);
  assert.equal((await store.read(policy))?.dependents.length, 5_000);
  clearImmediate(pending);
  assert.ok(turns >= 2, `${turns} turns`);
});
