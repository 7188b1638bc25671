import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../../src/core/errors.ts';
import { selectTag } from '../../../src/core/select-tag.ts';
import { alphabetical } from '../../../src/core/strategies/alphabetical.ts';

const table: [name: string, pattern: string, tags: string[], selected: string | undefined][] = [
  ['dates', '20\\d{6}', ['20260101', '20251231', '20260102', 'latest'], '20260102'],
  ['the whole tag must match', '1\\.2', ['1.2', '1.2.3', 'v1.2', '1.2-debug'], '1.2'],
  ['anchors do no harm', '^main-[0-9]+$', ['main-1', 'main-2', 'main-2-debug'], 'main-2'],
  ['text, not numbers', 'main-\\d+', ['main-9', 'main-10'], 'main-9'],
  ['capitals before small letters', '[A-Za-z]+', ['Zeta', 'alpha'], 'alpha'],
  ['alternatives as a whole', 'a|ab|b', ['a', 'ab', 'c'], 'ab'],
  ['nothing matches', 'prod-.*', ['dev-1', 'latest'], undefined],
  ['flags inside', '(?i)release-.*', ['RELEASE-1', 'release-2'], 'release-2'],
];

for (const [name, pattern, tags, selected] of table) {
  test(name, () => assert.equal(selectTag(alphabetical({ pattern }), tags), selected));
}

const invalid: [name: string, pattern: string][] = [
  ['an open group', '('],
  ['a look-ahead, which RE2 has not', '(?!debug).*'],
  ['a back reference, which RE2 has not', '(a)\\1'],
  ['repetitions of repetitions', '((a{100}){100}){100}'],
  ['more than 512 characters', 'a'.repeat(513)],
];

for (const [name, pattern] of invalid) {
  test(`refuses ${name}`, () => {
    assert.throws(
      () => alphabetical({ pattern }),
      (error) => error instanceof PermanentError && error.reason === 'InvalidTagPolicy' && error.message.length < 700,
    );
  });
}

test('a pattern that would keep a backtracking engine busy for ever answers', { timeout: 10_000 }, () => {
  assert.equal(alphabetical({ pattern: '((a+)+)+b' }).reject('a'.repeat(128))?.includes('does not match'), true);
});

test('says what is selected, and why not', () => {
  const strategy = alphabetical({ pattern: 'v\\d+' });
  assert.equal(strategy.description, 'the alphabetically last tag that matches "v\\d+"');
  assert.equal(strategy.reject('main'), '"main" does not match "v\\d+"');
});
