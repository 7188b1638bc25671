import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterTags, type TagFilter } from '../../../src/core/select/filter-tags.ts';
import { sampleTags } from '../../../src/cli/lint/sample-tags.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';

const { semver, numerical, alphabetical, newest, digest, replace } = strategies;
const alpine: TagFilter = { allow: '^(?P<version>[0-9]+\\.[0-9]+\\.[0-9]+)-alpine$', extract: '${version}' };

for (const [what, strategy, wanted] of [
  ['a major version', semver({ range: '3.x' }), ['3.0.0', '3.7.1']],
  ['a minor version', semver({ range: '10.4.x' }), ['10.4.0', '10.4.7']],
  ['one version', semver({ range: '1.4.2' }), ['1.4.2']],
  ['years as versions', semver({ range: '>=2026.0.0' }), ['2026.0.0', '2026.0.1']],
  ['a usual variant', filterTags(semver({ range: '1.x' }), alpine), ['1.0.0-alpine', '1.30.3-alpine']],
  [
    'an unusual variant and prefix',
    filterTags(semver({}), { allow: '^web-([0-9.]+)-bookworm$', extract: '$1' }),
    ['web-0.0.0-bookworm', 'web-30.2.3-bookworm'],
  ],
  ['builds', filterTags(numerical(), { allow: '^build-([0-9]+)$', extract: '$1' }), ['build-9', 'build-57']],
  ['dates', filterTags(alphabetical(), { allow: '^[0-9]{8}$' }), ['20260301', '20260302']],
  ['commits', filterTags(newest(), { allow: '^main-[0-9a-f]{7}$' }), ['main-3f2a1b7', 'main-9c0ffee']],
  ['one tag', digest({ tag: 'nightly' }), ['nightly']],
  ['a replacement', replace({ from: '1.4.2', to: '1.4.2-patched' }), ['1.4.2-patched']],
] as const)
  test(`lint knows sample tags for ${what}, all of which the strategy selects`, () => {
    const found = sampleTags(strategy);
    for (const tag of wanted) assert.ok(found.includes(tag), `${tag}: ${found.join(' ')}`);
    assert.deepEqual(
      found.filter((tag) => strategy.reject(tag) !== undefined),
      [],
    );
    assert.ok(found.length < 200);
  });

test('lint knows no sample tag for a pattern without usual tags, except the requested ones', () => {
  const strategy = filterTags(alphabetical(), { allow: '^[xyz]{5}$' });
  assert.deepEqual(sampleTags(strategy), []);
  assert.deepEqual(sampleTags(strategy, ['xyzzy', 'other']), ['xyzzy']);
});
