import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from '../../../src/core/async/turns.ts';

/** A clock on which each look takes a tenth of a ms, and on which others get a turn only when the test says so. */
function openTurns() {
  let now = 0;
  const passing: (() => void)[] = [];
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const turns = createTurns({
    elapsed: () => (now += 0.1),
    passOn: () => new Promise<void>((resolve) => passing.push(resolve)),
    pause: (ms) => new Promise<void>((resolve) => pauses.push({ ms, end: resolve })),
  });
  return { turns, passing, pauses };
}

/** Has all promises settle that can. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
}

test('many items are visited in slices, all of them in their order, and few items in a single slice', async () => {
  const { turns, passing } = openTurns();
  const items = Array.from({ length: 10_000 }, (_, index) => index);
  const visited: number[] = [];
  const slices: number[] = [];
  const visiting = turns.each(items, (item) => void visited.push(item));
  for (let seen = 0; seen < items.length; seen = visited.length) {
    await settle();
    slices.push(visited.length - seen);
    passing.shift()?.();
    await settle();
  }
  await visiting;
  assert.deepEqual(visited, items);
  // A look at the clock takes 0.1 ms, after every eight items.
  assert.ok(
    slices.every((length) => length <= 8 * 11),
    slices.join(),
  );
  const few: number[] = [];
  await turns.each([1, 2, 3], (item) => void few.push(item));
  assert.deepEqual([few, passing.length], [[1, 2, 3], 0]);
});

test('passes over few items that follow each other share a slice', async () => {
  const { turns, passing } = openTurns();
  const visits: number[] = [];
  const passes = async () => {
    await turns.next();
    for (let pass = 0; pass < 100; pass++) await turns.each(Array.from({ length: 16 }), () => void visits.push(1));
  };
  const done = passes();
  await settle();
  for (let before = 0; visits.length < 1_600; before = visits.length) {
    assert.ok(visits.length - before <= 8 * 11, `${visits.length - before} at once`);
    passing.shift()?.();
    await settle();
  }
  await done;
});

test('only one slice begins in each turn of the event loop, in order of arrival, however many wait', async () => {
  const { turns, passing } = openTurns();
  const begun: string[] = [];
  for (const name of ['a', 'b', 'c']) void turns.next().then(() => begun.push(name));
  for (const expected of [[], ['a'], ['a', 'b'], ['a', 'b', 'c']]) {
    await settle();
    assert.deepEqual(begun, expected);
    assert.ok(passing.length <= 1);
    passing.shift()?.();
  }
});

test('a slice waits until running priority work ends', async () => {
  const { turns, passing, pauses } = openTurns();
  let end: () => void = () => undefined;
  const first = turns.first(() => new Promise<string>((resolve) => (end = () => resolve('done'))));
  let hasBegun = false;
  void turns.next().then(() => (hasBegun = true));
  passing.shift()?.();
  await settle();
  assert.deepEqual([hasBegun, pauses.length], [false, 1]);
  end();
  assert.equal(await first, 'done');
  await settle();
  assert.equal(hasBegun, true);
});

test('priority work that takes long delays slices but never stops them, even if more of it arrives all the time', async () => {
  const { turns, passing, pauses } = openTurns();
  void turns.first(() => new Promise(() => undefined));
  const begun: number[] = [];
  for (const slice of [1, 2]) void turns.next().then(() => begun.push(slice));
  for (const expected of [[1], [1, 2]]) {
    passing.shift()?.();
    await settle();
    void turns.first(() => new Promise(() => undefined));
    pauses.shift()?.end();
    await settle();
    assert.deepEqual(begun, expected);
  }
});

test('priority work that fails no longer delays slices', async () => {
  const { turns, passing, pauses } = openTurns();
  await assert.rejects(
    turns.first(() => Promise.reject(new Error('no'))),
    /no/,
  );
  let hasBegun = false;
  void turns.next().then(() => (hasBegun = true));
  passing.shift()?.();
  await settle();
  assert.deepEqual([hasBegun, pauses.length], [true, 0]);
});
