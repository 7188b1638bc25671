/** What is known of the origins of images without a wait, and how much is asked of registries for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageSource } from '../../../src/core/model/image-source.ts';
import { createKnownOrigins } from '../../../src/service/registry/known-origins.ts';
import type { ReadOrigin } from '../../../src/service/registry/origins.ts';

const source = { registry: 'r.example.com', path: 'shop/web' };
const digest = (index: number) => `sha256:${String(index).padStart(64, '0')}`;
const origin = { repository: 'https://github.com/shop/web', revision: 'c'.repeat(40) };
const hour = 3_600_000;

/** Reads that end when the test says so, by a clock that it sets. */
function start() {
  const open = new Map<string, (end: 'found' | 'none' | 'failed') => void>();
  const asked: string[] = [];
  const clock = { now: 0 };
  const read: ReadOrigin = (_, reference, signal) => {
    asked.push(reference);
    const { promise, resolve, reject } = Promise.withResolvers<typeof origin | undefined>();
    signal.addEventListener('abort', () => reject(signal.reason));
    open.set(reference, (end) => (end === 'failed' ? reject(new Error('away')) : resolve(end === 'found' ? origin : undefined)));
    return promise;
  };
  const known = createKnownOrigins(read, () => clock.now);
  const end = async (reference: string, how: 'found' | 'none' | 'failed' = 'found') => {
    open.get(reference)?.(how);
    await new Promise(setImmediate);
  };
  return { ...known, end, asked, clock, find: (reference: string, of: ImageSource = source) => known.find(of, reference) };
}

test('looking up an origin does not wait, and reads each digest once', async () => {
  const { find, end, asked, clock, stop } = start();
  assert.equal(find(digest(1)), undefined);
  assert.equal(find(digest(1)), undefined);
  await end(digest(1));
  clock.now = 24 * hour;
  assert.deepEqual([find(digest(1)), asked.length], [origin, 1]);
  stop();
});

test('the origin of a tag, which may move, and of an image that could not be read are read again after ten minutes', async () => {
  const { find, end, asked, clock, stop } = start();
  for (const [reference, how] of [
    ['1.0.0', 'found'],
    [digest(1), 'failed'],
  ] as const) {
    asked.length = 0;
    find(reference);
    await end(reference, how);
    find(reference);
    assert.equal(asked.length, 1, reference);
    clock.now += 600_000;
    assert.deepEqual(find(reference), how === 'found' ? origin : undefined, 'what was known is shown until then');
    assert.equal(asked.length, 2, reference);
    await end(reference);
  }
  stop();
});

test('an image without an origin is not read again', async () => {
  const { find, end, asked, clock, stop } = start();
  find(digest(1));
  await end(digest(1), 'none');
  clock.now = 24 * hour;
  assert.deepEqual([find(digest(1)), asked.length], [undefined, 1]);
  stop();
});

test('origins are read four at a time, with a bounded queue and a bounded number in an hour', async () => {
  const { find, end, asked, clock, stop } = start();
  for (let index = 0; index < 400; index++) find(digest(index));
  assert.equal(asked.length, 4);
  for (let index = 0; index < 400; index++) await end(digest(index));
  assert.equal(asked.length, 260, 'four, and those that waited');
  for (let index = 400; index < 2_000; index++) {
    find(digest(index));
    await end(digest(index));
  }
  assert.equal(asked.length, 1_000);
  clock.now = hour;
  find(digest(5_000));
  assert.ok(asked.length > 1_000);
  stop();
});

test('the origin of an image is read with the access of its own policy', async () => {
  const { find, end, asked, stop } = start();
  find(digest(1));
  await end(digest(1));
  const secret = { namespace: 'other', name: 'pull', namedBy: 'policy' as const };
  assert.equal(find(digest(1), { ...source, access: { secrets: [secret] } }), undefined);
  assert.equal(asked.length, 2);
  stop();
});

test('no origin is read after the stop', async () => {
  const { find, end, asked, stop } = start();
  find(digest(1));
  stop();
  await end(digest(1));
  find(digest(2));
  assert.deepEqual([find(digest(1)), asked.length], [undefined, 1]);
});
