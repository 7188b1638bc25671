import assert from 'node:assert/strict';
import { test } from 'node:test';
import { naturalOrder } from '../../../src/core/select/select-tag.ts';

test('numbers within texts are compared as numbers, wherever they are', () => {
  assert.deepEqual(['v1.10', 'v1.9', 'build-100', 'build-9', '20260101', 'v1.9-rc10', 'v1.9-rc2'].toSorted(naturalOrder), [
    '20260101',
    'build-9',
    'build-100',
    'v1.9',
    'v1.9-rc2',
    'v1.9-rc10',
    'v1.10',
  ]);
});

test('different texts are never equal', () => {
  for (const [a, b] of [
    ['1', '01'],
    ['a', 'A'],
  ] as const) {
    assert.notEqual(naturalOrder(a, b), 0);
    assert.equal(Math.sign(naturalOrder(a, b)), -Math.sign(naturalOrder(b, a)));
  }
  assert.equal(naturalOrder('a', 'a'), 0);
});
