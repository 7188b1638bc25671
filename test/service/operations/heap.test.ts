import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { growthOf } from '../../../src/service/operations/heap.ts';

const run = promisify(execFile);
const heapModule = JSON.stringify(new URL('../../../src/service/operations/heap.ts', import.meta.url).href);

test('a small heap may more than double, a large one grows by a third', () => {
  assert.deepEqual(
    [25, 50, 100, 400].map((megabytes) => growthOf(megabytes * 1_000_000)),
    [200, 100, 50, 30],
  );
});

/** Makes garbage that V8 keeps, rests, and prints the megabytes that are left of it when some are gone. */
const garbage = `
import { tendHeap } from ${heapModule};
const used = () => process.memoryUsage().heapUsed / 1_000_000;
tendHeap();
let garbage = Array.from({ length: 200_000 }, (_, index) => ({ index, text: 'x'.repeat(index % 40) }));
gc({ type: 'minor' }); gc({ type: 'minor' });
const before = used();
garbage = undefined;
const timer = setInterval(() => {
  if (used() > before - 5) return;
  clearInterval(timer);
  console.log('collected');
}, 50);`;

test('an idle process collects its garbage', async () => {
  const options = ['--expose-gc', '--heap-growing-percent=30', '--input-type=module', '--eval', garbage];
  const { stdout } = await run(process.execPath, options, { timeout: 120_000 });
  assert.equal(stdout.trim(), 'collected');
});

/** Prints by how much the heap may grow after a collection, while it is small and when it has been filled. */
const growing = `
import { tendHeap } from ${heapModule};
let set = Promise.withResolvers();
// Nothing else keeps the process alive.
setInterval(() => undefined, 1_000);
tendHeap((percent) => set.resolve(percent));
gc();
const small = await set.promise;
const lasting = Array.from({ length: 1_000_000 }, (_, index) => ({ index, text: [index] }));
set = Promise.withResolvers();
gc();
console.log(JSON.stringify([small, await set.promise, lasting.length]));
process.exit();`;

test('the growth limit of the heap follows its size with each collection', async () => {
  const options = ['--expose-gc', '--heap-growing-percent=30', '--input-type=module', '--eval', growing];
  const { stdout } = await run(process.execPath, options, { timeout: 120_000 });
  const [small = 0, large = 0] = JSON.parse(stdout) as number[];
  assert.ok(small > 300 && large < 100 && large >= 30, stdout);
});
