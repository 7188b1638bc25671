import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchWrites } from '../../src/async/batch-writes.ts';

/** Writes that end when they are told to. */
function start() {
  const writes: { readonly items: readonly number[]; readonly end: () => void; readonly fail: (error: Error) => void }[] = [];
  const write = batchWrites<number>((items) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    writes.push({ items, end: resolve, fail: reject });
    return promise;
  });
  return { writes, write };
}

const turn = () => new Promise(setImmediate);

test('what comes while a write is under way is written together, in order, as the next one', async () => {
  const { writes, write } = start();
  const first = write(1);
  await turn();
  const rest = [write(2), write(3), write(4)];
  await turn();
  assert.deepEqual(
    writes.map(({ items }) => items),
    [[1]],
  );
  writes[0]?.end();
  await first;
  await turn();
  assert.deepEqual(writes[1]?.items, [2, 3, 4]);
  writes[1].end();
  await Promise.all(rest);
});

test('a write that fails, fails for its own items only', async () => {
  const { writes, write } = start();
  const first = write(1);
  await turn();
  const second = write(2);
  writes[0]?.fail(new Error('away'));
  await assert.rejects(first, /away/);
  await turn();
  writes[1]?.end();
  await second;
});
