import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KnownPage, KnownPages } from '../../src/registry/known-pages.ts';

const pageOf = (length: number): KnownPage => ({ tags: ['x'.repeat(length)], next: undefined, condition: {} });

test('what was not asked for the longest goes when there is too much', () => {
  const pages = new KnownPages(5_000);
  for (const key of ['a', 'b', 'c']) pages.set(key, pageOf(1_000));
  assert.ok(pages.get('a'));
  pages.set('d', pageOf(1_000));
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].filter((key) => pages.get(key)),
    ['a', 'c', 'd'],
  );
});

test('a page that is too large for all of it is not kept, and one that is set again counts once', () => {
  const pages = new KnownPages(5_000);
  pages.set('a', pageOf(10_000));
  assert.equal(pages.get('a'), undefined);
  for (let i = 0; i < 10; i++) pages.set('b', pageOf(3_000));
  pages.set('c', pageOf(500));
  assert.ok(pages.get('b') && pages.get('c'));
});
