import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { slicesUntil, sortInSlices } from '../../../src/core/async/in-parallel.ts';

const { signal } = new AbortController();

test('a sort in slices gives the same order as Array.sort, and keeps the order of equal items', async () => {
  const items = fc.array(fc.record({ key: fc.nat(20), place: fc.nat() }), { maxLength: 3_000, size: 'max' });
  await fc.assert(
    fc.asyncProperty(items, async (list) => {
      const compare = (a: { readonly key: number }, b: { readonly key: number }) => a.key - b.key;
      assert.deepEqual(await sortInSlices(list, compare, slicesUntil(signal)), list.toSorted(compare));
    }),
    { numRuns: 40 },
  );
});

test('a sort of many items yields to the event loop, and stops when its signal is aborted', async () => {
  const items = Array.from({ length: 200_000 }, (_, index) => `${(index * 7919) % 200_003}`);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await sortInSlices(items, (a, b) => a.localeCompare(b), slicesUntil(signal));
  clearInterval(timer);
  assert.ok(turns > 3, `${turns} turns`);
  const controller = new AbortController();
  const sorting = sortInSlices(items, (a, b) => a.localeCompare(b), slicesUntil(controller.signal));
  controller.abort(new Error('stopped'));
  await assert.rejects(sorting);
});
