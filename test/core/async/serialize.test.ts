import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { batchWrites, createKeyedMutex, holdMutex } from '../../../src/core/async/serialize.ts';

test('calls for the same key run one at a time in order of arrival, and other keys do not wait', async () => {
  const mutex = createKeyedMutex();
  const log: string[] = [];
  const work = (name: string, turns: number) => async () => {
    log.push(`${name} begins`);
    for (let i = 0; i < turns; i++) await turn();
    log.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all([
    mutex.run('a', work('a1', 5)),
    mutex.run('a', work('a2', 1)),
    mutex.run('b', work('b1', 1)),
    mutex.run('a', work('a3', 0)),
  ]);
  assert.deepEqual(results, ['a1', 'a2', 'b1', 'a3']);
  assert.deepEqual(
    log.filter((line) => line.startsWith('a')),
    ['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends', 'a3 begins', 'a3 ends'],
  );
  assert.ok(log.indexOf('b1 ends') < log.indexOf('a1 ends'));
});

test('a failed call rejects for its own caller only, and the next call with the key runs', async () => {
  const mutex = createKeyedMutex();
  const broken = mutex.run('a', () => Promise.reject(new Error('broken')));
  const nextRun = mutex.run('a', async () => 'fine');
  await assert.rejects(broken, /broken/);
  assert.equal(await nextRun, 'fine');
});

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

test('a held mutex makes other callers with its key wait until it is released, and can be taken again', async () => {
  const mutex = createKeyedMutex();
  const held = holdMutex(mutex, 'a');
  held.release();
  await held.take();
  await held.take();
  const log: string[] = [];
  const otherRun = mutex.run('a', async () => void log.push('other'));
  await mutex.run('b', async () => void log.push('another key'));
  assert.deepEqual(log, ['another key']);
  held.release();
  held.release();
  await otherRun;
  assert.deepEqual(log, ['another key', 'other']);
  await held.take();
  const last = mutex.run('a', async () => void log.push('last'));
  await turn();
  assert.deepEqual(log, ['another key', 'other']);
  held.release();
  await last;
});

test('two holders of the mutex of one key run one after the other', async () => {
  const mutex = createKeyedMutex();
  const [first, second] = [holdMutex(mutex, 'a'), holdMutex(mutex, 'a')];
  await first.take();
  let isSecondHeld = false;
  const taking = second.take().then(() => (isSecondHeld = true));
  await turn();
  assert.equal(isSecondHeld, false);
  first.release();
  await taking;
  second.release();
});

test('items that arrive during a write are written together by the next write, in order', async () => {
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

test('a failed write fails only for its own items', async () => {
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
