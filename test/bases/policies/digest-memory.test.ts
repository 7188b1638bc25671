import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DigestMemory } from '../../../src/bases/policies/digest-memory.ts';

const { signal } = new AbortController();

function start() {
  const state = { now: 0, asked: 0, digest: 'a', isNew: false };
  const memory = new DigestMemory(10, () => state.now);
  const read = (lifeMs: number, shown?: string) =>
    memory.read('web:stable', { lifeMs, shown, signal }, async (_, isNew) => {
      Object.assign(state, { isNew });
      state.asked++;
      const { digest } = state;
      await Promise.resolve();
      return digest;
    });
  return { state, read };
}

test('policies that ask for a tag at the same time share one request, and later ones ask for nothing while it is known', async () => {
  const { state, read } = start();
  assert.deepEqual(await Promise.all(Array.from({ length: 20 }, () => read(60_000))), Array(20).fill('a'));
  state.now = 59_999;
  await read(60_000);
  assert.equal(state.asked, 1);
  state.now = 60_000;
  await read(60_000);
  assert.equal(state.asked, 2);
});

test('what a push has announced is asked for after the push, whatever is being asked for', async () => {
  const { state, read } = start();
  const before = read(60_000);
  state.digest = 'b';
  assert.deepEqual([await before, await read(0), state.asked], ['a', 'b', 2]);
});

test('a digest that the status does not show any more is asked for again, and one that the registry does not have is not remembered', async () => {
  const { state, read } = start();
  await read(60_000);
  state.digest = 'b';
  assert.equal(await read(60_000, 'b'), 'b');
  assert.equal(state.asked, 2);
});

test('a tag is new as long as neither this process nor the status knows a digest of it', async () => {
  const { state, read } = start();
  await read(60_000);
  assert.equal(state.isNew, true);
  await read(0);
  assert.equal(state.isNew, false);
  const other = start();
  await other.read(60_000, 'b');
  assert.equal(other.state.isNew, false);
});
