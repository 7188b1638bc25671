import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Candidate } from '../../../src/core/model/image-reference.ts';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import { compareTags, isNewerImage, selectTag } from '../../../src/core/select/select-tag.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { TagStrategy } from '../../../src/core/model/tag-strategy.ts';

const built: [name: string, strategy: TagStrategy][] = [
  ['semver', strategies.semver({})],
  ['semver with a range', strategies.semver({ range: '>=1.0.0-0 <3' })],
  ['semver with prereleases', strategies.semver({ range: '>=1.0.0', prereleases: true })],
  ['alphabetical', strategies.alphabetical()],
  ['numerical', strategies.numerical()],
  ['alphabetical behind a filter', filterTags(strategies.alphabetical(), { allow: '[0-9a-z.-]+', ignore: ['rc'] })],
  ['numerical behind an extract', filterTags(strategies.numerical(), { allow: '.*?([0-9]+)[^0-9]*', extract: '$1' })],
  ['digest', strategies.digest({ tag: 'latest' })],
];

const version = fc
  .tuple(fc.constantFrom('', 'v'), fc.nat({ max: 3 }), fc.nat({ max: 3 }), fc.nat({ max: 3 }), fc.constantFrom('', '-rc.1', '-rc.10', '-a'))
  .map(([v, a, b, c, suffix]) => `${v}${a}.${b}.${c}${suffix}`);
const tag = fc.oneof(
  version,
  fc.constantFrom('latest', 'main', '1.2', 'sha-abc', '7', '007', '10', '20260101120000123456789'),
  fc.stringMatching(/^[a-z0-9_][a-z0-9._-]{0,10}$/),
);
const tagsInAnyOrder = fc
  .uniqueArray(tag, { maxLength: 12 })
  .chain((tags) => fc.tuple(fc.constant(tags), fc.shuffledSubarray(tags, { minLength: tags.length, maxLength: tags.length })));

for (const [name, strategy] of built) {
  test(`the strategy ${name} selects the greatest candidate, in whatever order the registry lists the tags`, () => {
    fc.assert(
      fc.property(tagsInAnyOrder, ([tags, shuffled]) => {
        const selected = selectTag(strategy, tags);
        assert.equal(selectTag(strategy, shuffled), selected);
        const candidates = tags.filter((tag) => strategy.reject(tag) === undefined);
        if (selected === undefined) assert.deepEqual(candidates, []);
        else {
          assert.ok(candidates.includes(selected));
          for (const candidate of candidates) assert.ok(strategy.compare(candidate, selected) <= 0, `${candidate} > ${selected}`);
        }
      }),
      { numRuns: 300 },
    );
  });
}

for (const [name, strategy] of built) {
  test(`the strategy ${name} has a total order, which refines that of the ranks`, () => {
    const candidates = fc.array(
      tag.filter((tag) => strategy.reject(tag) === undefined),
      { minLength: 3, maxLength: 3 },
    );
    // The one tag that is followed is rarely made up.
    const three = strategy.mutableTag === undefined ? candidates : fc.constant(Array<string>(3).fill(strategy.mutableTag));
    fc.assert(
      fc.property(three, ([a = '', b = '', c = '']) => {
        const order = Math.sign(compareTags(strategy, a, b));
        assert.equal(order + Math.sign(compareTags(strategy, b, a)), 0);
        assert.equal(order === 0, a === b);
        const rank = Math.sign(strategy.compare(a, b));
        if (rank !== 0) assert.equal(order, rank);
        if (order < 0 && compareTags(strategy, b, c) < 0) assert.ok(compareTags(strategy, a, c) < 0);
      }),
      { numRuns: 300 },
    );
  });
}

const dated = filterTags(strategies.semver({}), { allow: '([0-9.]+)-[0-9]+', extract: '$1' });

test('of equal candidates the last by name is selected, with numbers compared as numbers', () => {
  assert.equal(selectTag(strategies.semver({}), ['v1.2.3', '1.2.3', 'v1.2.2']), 'v1.2.3');
  assert.equal(selectTag(dated, ['1.4.2-20260201', '1.4.2-20260101', '1.4.1-20260301']), '1.4.2-20260201');
  assert.equal(selectTag(dated, ['1.4.2-9', '1.4.2-10']), '1.4.2-10');
  assert.equal(selectTag(dated, ['1.4.2-10', '1.4.2-9']), '1.4.2-10');
});

test('where the date is compared as well, no two candidates rank equal', () => {
  const withDate = filterTags(strategies.semver({}), { allow: '(?P<version>[0-9.]+)-(?P<date>[0-9]+)', extract: '${version}+${date}' });
  assert.ok(withDate.compare('1.4.2-20260201', '1.4.2-20260101') > 0);
  const known = new Set(['1.4.2-20260101']);
  assert.equal(selectTag(withDate, ['1.4.2-20260201', '1.4.2-20260101'], known), '1.4.2-20260201');
});

test('of equal candidates a known one is preferred, but not to a higher one', () => {
  const known = new Set(['1.4.2-20260101']);
  assert.equal(selectTag(dated, ['1.4.2-20260101', '1.4.2-20260201'], known), '1.4.2-20260101');
  assert.equal(selectTag(dated, ['1.4.2-20260101', '1.4.2-20260201'], new Set(['1.4.2-20260101', '1.4.2-20260201'])), '1.4.2-20260201');
  assert.equal(selectTag(dated, ['1.4.2-20260101', '1.4.3-20260101'], known), '1.4.3-20260101');
  assert.equal(selectTag(dated, ['1.4.2-20260201'], known), '1.4.2-20260201', 'what is known may be gone');
});

const newer: [name: string, candidate: Candidate, than: Candidate, expected: boolean][] = [
  ['a later build of the version', { tag: '1.4.2-2', digest: 'b' }, { tag: '1.4.2-1', digest: 'a' }, true],
  ['a later build whose digest nobody knows', { tag: '1.4.2-2' }, { tag: '1.4.2-1', digest: 'a' }, true],
  ['the same image under a later name', { tag: '1.4.2-2', digest: 'a' }, { tag: '1.4.2-1', digest: 'a' }, false],
  ['an earlier build of the version', { tag: '1.4.2-1', digest: 'b' }, { tag: '1.4.2-2', digest: 'a' }, false],
  ['the same tag', { tag: '1.4.2-1', digest: 'a' }, { tag: '1.4.2-1', digest: 'a' }, false],
  ['the same tag at another digest', { tag: '1.4.2-1', digest: 'b' }, { tag: '1.4.2-1', digest: 'a' }, true],
  ['a higher version of an earlier build', { tag: '1.4.3-1', digest: 'a' }, { tag: '1.4.2-2', digest: 'a' }, true],
  ['a lower version of a later build', { tag: '1.4.1-2', digest: 'b' }, { tag: '1.4.2-1', digest: 'a' }, false],
  ['than what is no candidate', { tag: '1.4.1-2', digest: 'b' }, { tag: 'main', digest: 'a' }, true],
];

for (const [name, candidate, than, expected] of newer)
  test(`a candidate is ${expected ? 'newer' : 'not newer'} in the case "${name}"`, () =>
    assert.equal(isNewerImage(candidate, than, { strategy: dated }), expected));

test('without tags there is no candidate', () => {
  assert.equal(selectTag(strategies.semver({}), []), undefined);
  assert.equal(selectTag(strategies.semver({}), ['latest', 'main']), undefined);
});
