import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { filterTags, type TagFilter } from '../../../src/core/select/filter-tags.ts';
import { selectTag } from '../../../src/core/select/select-tag.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { TagStrategy } from '../../../src/core/model/tag-strategy.ts';

const last = strategies.alphabetical();
const version = strategies.semver({});
const number = strategies.numerical();

const table: [name: string, strategy: TagStrategy, filter: TagFilter, tags: string[], selected: string | undefined][] = [
  ['nothing is filtered', last, {}, ['a', 'b'], 'b'],
  ['dates', last, { allow: '20\\d{6}' }, ['20260101', '20251231', '20260102', 'latest'], '20260102'],
  ['the whole tag must match', last, { allow: '1\\.2' }, ['1.2', '1.2.3', 'v1.2', '1.2-debug'], '1.2'],
  ['anchors do no harm', last, { allow: '^main-[0-9]+$' }, ['main-1', 'main-2', 'main-2-debug'], 'main-2'],
  ['alternatives as a whole', last, { allow: 'a|ab|b' }, ['a', 'ab', 'c'], 'ab'],
  ['nothing matches', last, { allow: 'prod-.*' }, ['dev-1', 'latest'], undefined],
  ['flags inside', last, { allow: '(?i)release-.*' }, ['RELEASE-1', 'release-2'], 'release-2'],
  ['what is ignored is found anywhere', version, { ignore: ['debug'] }, ['1.0.0', '1.1.0-debug.1', '1.1.0+debug'], '1.0.0'],
  ['each of what is ignored', last, { ignore: ['-debug$', '^old'] }, ['a', 'old-z', 'z-debug'], 'a'],
  ['allowed and not ignored', last, { allow: 'v.*', ignore: ['9'] }, ['v1', 'v9', 'w1'], 'v1'],
  [
    'a version inside',
    version,
    { allow: '^v(?P<version>.*)-prod$', extract: '$version' },
    ['v1.9.0-prod', 'v1.10.0-prod', 'v2.0.0-dev', '3.0.0'],
    'v1.10.0-prod',
  ],
  ['a number inside', number, { allow: 'main-[0-9a-f]+-([0-9]+)', extract: '$1' }, ['main-ff-9', 'main-aa-10', 'main-10'], 'main-aa-10'],
  [
    'versions of a variant',
    version,
    { allow: '^(?P<version>.*)-alpine[0-9.]*$', extract: '$version' },
    ['1.10.0-alpine', '1.9.0-alpine3.20', '1.11.0', '1.12.0-slim', '1.11.0-rc.1-alpine'],
    '1.10.0-alpine',
  ],
  [
    'dates with leading zeros, as numbers',
    number,
    { allow: '([0-9]{4})\\.([0-9]{2})\\.([0-9]{2})', extract: '$1$2$3' },
    ['2026.03.01', '2026.2.28', '2025.12.31'],
    '2026.03.01',
  ],
  ['two numbers made three', version, { allow: 'v?([0-9]+\\.[0-9]+)', extract: '$1.0' }, ['1.9', '1.10', '1.10.1'], '1.10'],
  ['build metadata behind an underscore', version, { allow: '(.*)_(.*)', extract: '$1+$2' }, ['1.2.3_5', '1.2.3_10'], '1.2.3_10'],
  ['no hashes among numbers', number, { allow: '[1-9][0-9]{0,5}' }, ['41', '42', '1234567', '0123456'], '42'],
  ['the name in braces', number, { allow: '(?<build>[0-9]+)x', extract: '${build}0' }, ['1x', '2x'], '2x'],
  ['groups in another order', last, { allow: '(\\d+)-(\\d+)', extract: '$2-$1' }, ['1-3', '2-2'], '1-3'],
  ['a group that took no part is empty', number, { allow: 'r(\\d+)?(\\d{2})?', extract: '1$1' }, ['r', 'r5'], 'r5'],
  ['nothing left to compare', last, { allow: 'r(\\d*)', extract: '$1' }, ['r', 'r1'], 'r1'],
  ['what is extracted is not coerced either', version, { allow: 'v(\\d+\\.\\d+)', extract: '$1' }, ['v1.2'], undefined],
  ['the followed tag', strategies.digest({ tag: 'main' }), { allow: 'main|dev' }, ['dev', 'main'], 'main'],
];

for (const [name, strategy, filter, tags, selected] of table) {
  test(`the right one of the filtered tags is selected in the case "${name}"`, () =>
    assert.equal(selectTag(filterTags(strategy, filter), tags), selected));
}

const invalid: [name: string, filter: TagFilter, message: RegExp, strategy?: TagStrategy][] = [
  ['an open group', { allow: '(' }, /^tags\.allow: .*RE2/],
  ['a look-ahead, which RE2 has not', { allow: '(?!debug).*' }, /^tags\.allow: /],
  ['a back reference, which RE2 has not', { allow: '(a)\\1' }, /^tags\.allow: /],
  ['repetitions of repetitions', { allow: '((a{100}){100}){100}' }, /^tags\.allow: /],
  ['more than 512 characters', { allow: 'a'.repeat(513) }, /^tags\.allow: .*512/],
  ['a broken pattern among those ignored', { ignore: ['a', '['] }, /^tags\.ignore\[1\]: /],
  ['extract without allow', { extract: '$1' }, /^tags\.extract: .*tags\.allow/],
  [
    'a name that allow has not',
    { allow: 'v(?P<version>.*)', extract: '$minor' },
    /"\$minor" is not a group of allow, which has \$version, \$1$/,
  ],
  ['a longer name than meant', { allow: 'v(.*)', extract: '$1x' }, /"\$1x" is not a group/],
  ['a number that allow has not', { allow: 'v(.*)', extract: '$2' }, /"\$2" is not a group/],
  ['a name of every object', { allow: 'v(.*)', extract: '$constructor' }, /not a group/],
  ['groups, but there are none', { allow: 'v.*', extract: '$1' }, /which has none/],
  ['a dollar sign alone', { allow: 'v(.*)', extract: 'a$' }, /dollar sign/],
  ['a followed tag that is filtered out', { allow: 'v.*' }, /no tag is left to follow: "main"/, strategies.digest({ tag: 'main' })],
];

for (const [name, filter, message, strategy = last] of invalid) {
  test(`a tag filter with ${name} is refused`, () => {
    assert.throws(
      () => filterTags(strategy, filter),
      (error) => {
        assert.ok(error instanceof PermanentError && error.reason === 'InvalidTagPolicy' && error.message.length < 700);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

test('a pattern that makes a backtracking engine hang is answered quickly', { timeout: 10_000 }, () => {
  assert.match(filterTags(last, { allow: '((a+)+)+b' }).reject('a'.repeat(128)) ?? '', /does not match/);
  assert.equal(filterTags(last, { ignore: ['((a+)+)+b'] }).reject('a'.repeat(128)), undefined);
});

test('the extracted part of a tag is bounded, however often the template names a group', () => {
  const strategy = filterTags(last, { allow: '(.*)', extract: '$1'.repeat(256) });
  assert.equal(strategy.partOf?.('a'.repeat(1)), 'a'.repeat(256));
  assert.match(strategy.reject('ab') ?? '', /^"ab" has too much to compare: .* is longer than 256 characters$/);
});

test('a tag filter says what is selected, and why a tag is not', () => {
  const strategy = filterTags(version, { allow: 'v(.*)', extract: '$1', ignore: ['debug', 'test'] });
  assert.equal(strategy.id, 'semver');
  assert.equal(strategy.description, 'the highest stable version, among those that match "v(.*)" and that do not have "debug" or "test"');
  assert.equal(strategy.reject('main'), '"main" does not match "v(.*)"');
  assert.equal(strategy.reject('v1.0.0-test'), '"v1.0.0-test" is ignored by "test"');
  assert.equal(strategy.reject('v1.0.0-rc.1'), '"1.0.0-rc.1" is a prerelease');
  assert.deepEqual([strategy.partOf?.('v1.0.0'), strategy.partOf?.('main')], ['1.0.0', undefined]);
  assert.equal(filterTags(number, { allow: 'r(\\d*)', extract: '$1' }).reject('r'), '"r" has nothing to compare: "$1" is empty');
});

test('the template of tags.extract writes a dollar sign as two', () => {
  assert.equal(filterTags(last, { allow: 'v(.*)', extract: '$$$1' }).partOf?.('v1'), '$1');
});
