import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedMap } from '../../src/async/bounded-map.ts';

test('what was neither set nor asked for the longest is forgotten', () => {
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

test('to ask whether a key is there keeps nothing', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 0).set('b', 1);
  assert.ok(map.has('a'));
  map.set('c', 2);
  assert.deepEqual([...map.keys()], ['b', 'c']);
});
