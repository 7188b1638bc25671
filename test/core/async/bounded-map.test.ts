import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BoundedMap, createTtlCache } from '../../../src/core/async/bounded-map.ts';

test('the entry that was not set or read for the longest time is evicted', () => {
  const map = new BoundedMap<string, number>(3);
  for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index);
  assert.equal(map.get('a'), 0);
  map.set('b', 4).set('d', 5);
  assert.deepEqual(
    [...map],
    [
      ['a', 0],
      ['b', 4],
      ['d', 5],
    ],
  );
});

test('weighted entries are evicted until their total fits, and an entry that is too heavy alone is not kept', () => {
  const map = new BoundedMap<string, number>(10, (value) => value);
  map.set('a', 4).set('b', 3).set('c', 3);
  assert.deepEqual([...map.keys()], ['a', 'b', 'c']);
  map.set('a', 5);
  assert.deepEqual([...map.keys()], ['c', 'a']);
  map.delete('a');
  map.set('d', 7);
  assert.deepEqual([...map.keys()], ['c', 'd']);
  map.set('e', 11);
  assert.deepEqual([...map.keys()], []);
  map.set('f', 10);
  assert.deepEqual([...map.keys()], ['f']);
  map.clear();
  map.set('g', 10);
  assert.deepEqual([...map.keys()], ['g']);
});

test('asking whether a key exists does not count as a use of its entry', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 0).set('b', 1);
  assert.ok(map.has('a'));
  map.set('c', 2);
  assert.deepEqual([...map.keys()], ['b', 'c']);
});

test('whatever is read, set, removed and cleared, a bounded map keeps the entries used last, in the order of their use', () => {
  const step = fc.record({ act: fc.constantFrom('get', 'set', 'set', 'delete', 'clear'), key: fc.integer({ max: 7, min: 0 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const map = new BoundedMap<number, number>(4);
      let used: number[] = [];
      for (const { act, key } of steps) {
        const others = used.filter((one) => one !== key);
        if (act === 'clear') {
          map.clear();
          used = [];
        } else if (act === 'delete') {
          map.delete(key);
          used = others;
        } else if (act === 'set') {
          map.set(key, key);
          used = [...others, key].slice(-4);
        } else if (map.get(key) !== undefined) used = [...others, key];
        assert.deepEqual([...map.keys()], used);
      }
    }),
  );
});

/** A cache of two answers for ten milliseconds, a clock, and what was loaded. */
function createWorld() {
  const state = { now: 0, loads: [] as string[] };
  const cache = createTtlCache<string>({ ttlMs: 10, limit: 2, elapsed: () => state.now });
  const get = (key: string) =>
    cache.get(key, async () => {
      state.loads.push(key);
      return `${key} at ${state.now}`;
    });
  return Object.assign(state, { cache, get });
}

test('simultaneous callers share one request, and its answer is reused until it expires', async () => {
  const world = createWorld();
  assert.deepEqual(await Promise.all([world.get('a'), world.get('a')]), ['a at 0', 'a at 0']);
  world.now = 9;
  assert.equal(await world.get('a'), 'a at 0');
  world.now = 10;
  assert.equal(await world.get('a'), 'a at 10');
  assert.deepEqual(world.loads, ['a', 'a']);
});

test('a failed request fails for all callers who wait for it, and is not cached', async () => {
  const world = createWorld();
  const fail = () => world.cache.get('a', () => Promise.reject(new Error('away')));
  const failed = await Promise.allSettled([fail(), world.get('a')]);
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await world.get('a'), 'a at 0');
});

test('when there are too many cached answers, the least recently used one is evicted', async () => {
  const world = createWorld();
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await world.get(key);
  assert.deepEqual(world.loads, ['a', 'b', 'c', 'b']);
});
