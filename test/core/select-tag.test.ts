import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { filterTags } from '../../src/core/filter-tags.ts';
import { selectTag } from '../../src/core/select-tag.ts';
import { strategies } from '../../src/core/strategies/index.ts';
import type { TagStrategy } from '../../src/core/strategies/strategy.ts';

const built: [name: string, strategy: TagStrategy][] = [
  ['semver', strategies.semver({})],
  ['semver with a range', strategies.semver({ range: '>=1.0.0-0 <3' })],
  ['semver with prereleases', strategies.semver({ range: '>=1.0.0', prereleases: true })],
  ['alphabetical', strategies.alphabetical()],
  ['alphabetical, the first one', strategies.alphabetical({ order: 'Descending' })],
  ['numerical', strategies.numerical()],
  ['numerical, the smallest', strategies.numerical({ order: 'Descending' })],
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
  test(`${name}: selects the greatest candidate, in whatever order the registry tells the tags`, () => {
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

test('of equal candidates the first in the order of code units', () => {
  assert.equal(selectTag(strategies.semver({}), ['v1.2.3', '1.2.3', 'v1.2.2']), '1.2.3');
  assert.equal(selectTag(strategies.semver({}), ['1.2.3', 'v1.2.3']), '1.2.3');
});

test('no tags, no candidate', () => {
  assert.equal(selectTag(strategies.semver({}), []), undefined);
  assert.equal(selectTag(strategies.semver({}), ['latest', 'main']), undefined);
});
