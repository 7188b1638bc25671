import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { defined } from '../../../src/core/model/defined.ts';
import { DigestMemory } from '../../../src/bases/policies/digest-memory.ts';

const { signal } = new AbortController();

function start() {
  const state = { now: 0, asked: 0, digest: 'a' as string | undefined, isNew: false };
  const memory = new DigestMemory(10, () => state.now);
  const read = (lifeMs: number, ...shown: (string | undefined)[]) =>
    memory.read(
      'web:stable',
      { lifeMs, shown: shown.length === 0 ? undefined : defined({ digest: shown[0] }), signal },
      async (_, isNew) => {
        Object.assign(state, { isNew });
        state.asked++;
        const { digest } = state;
        await Promise.resolve();
        return digest;
      },
    );
  return { state, read };
}

test('policies that ask for a tag simultaneously share one request, and its digest is remembered for later ones', async () => {
  const { state, read } = start();
  assert.deepEqual(await Promise.all(Array.from({ length: 20 }, () => read(60_000))), Array(20).fill('a'));
  state.now = 59_999;
  await read(60_000);
  assert.equal(state.asked, 1);
  state.now = 60_000;
  await read(60_000);
  assert.equal(state.asked, 2);
});

test('a tag is requested after its push, even if an earlier request for it is under way', async () => {
  const { state, read } = start();
  const before = read(60_000);
  state.digest = 'b';
  assert.deepEqual([await before, await read(0), state.asked], ['a', 'b', 2]);
});

test('the digest of a pushed tag stays unknown until the registry shows it, whatever an earlier request is answered', async () => {
  const { state, read } = start();
  await read(60_000);
  state.digest = undefined;
  state.now = 1;
  assert.equal(await read(0), undefined);
  state.digest = 'b';
  assert.equal(await read(60_000), 'b');
  const other = start();
  const answer = Promise.withResolvers<void>();
  const memory = new DigestMemory(10, () => other.state.now);
  const ask = (lifeMs: number, digest: string | undefined, when: Promise<void>) =>
    memory.read('web:stable', { lifeMs, shown: undefined, signal }, () => when.then(() => digest));
  const early = ask(60_000, 'a', answer.promise);
  await setImmediate();
  other.state.now = 1;
  await ask(0, undefined, Promise.resolve());
  answer.resolve();
  assert.equal(await early, 'a');
  assert.equal(await ask(60_000, 'b', Promise.resolve()), 'b');
});

test('a tag that the status shows without a digest is requested', async () => {
  const { state, read } = start();
  await read(60_000);
  state.digest = 'b';
  assert.equal(await read(60_000, undefined), 'b');
});

test('a tag is requested again if the status shows another digest of it than the one remembered', async () => {
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
