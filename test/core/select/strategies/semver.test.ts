import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../../../src/core/model/errors.ts';
import { selectTag } from '../../../../src/core/select/select-tag.ts';
import { semver } from '../../../../src/core/select/strategies/semver.ts';

const table: [name: string, range: string | undefined, tags: string[], selected: string | undefined][] = [
  ['numbers, not text', undefined, ['1.9.0', '1.10.0', '1.2.0'], '1.10.0'],
  ['the highest stable version', undefined, ['1.2.0', '2.0.0-rc.1', 'latest'], '1.2.0'],
  ['only prereleases', undefined, ['2.0.0-rc.1', '2.0.0-beta'], undefined],
  ['a leading v', undefined, ['v1.2.0', 'v1.3.0'], 'v1.3.0'],
  ['no coercion', undefined, ['1.2', '3', 'v4', '1.02.3', '1.2.3.4', 'version-5.0.0'], undefined],
  ['a line', '1.18.*', ['1.17.9', '1.18.3', '1.18.20', '1.19.0'], '1.18.20'],
  ['two bounds', '>=1.2 <2', ['1.1.9', '1.2.0', '1.99.0', '2.0.0'], '1.99.0'],
  ['a comma is "and"', '>=1.2, <2', ['1.1.9', '1.2.0', '1.99.0', '2.0.0'], '1.99.0'],
  ['alternatives', '1.x || >=3.1', ['1.5.0', '2.9.0', '3.0.0', '3.1.0'], '3.1.0'],
  ['caret and tilde', '^1.2.3', ['1.2.2', '1.9.0', '2.0.0'], '1.9.0'],
  ['prereleases where the range names one', '>=1.3.0-rc.1', ['1.2.9', '1.3.0-beta', '1.3.0-rc.1', '1.3.0-rc.2'], '1.3.0-rc.2'],
  ['no prereleases of other versions', '>=1.3.0-rc.1', ['1.4.0-rc.1'], undefined],
  ['an empty range is none', '  ', ['1.2.0', '2.0.0-rc.1'], '1.2.0'],
  ['1.10 after 1.9, with and without v', undefined, ['v1.9.0', '1.10.0', 'v1.2.0'], '1.10.0'],
  ['the same version, with and without v: the last by name', undefined, ['v1.2.0', '1.2.0'], 'v1.2.0'],
  ['hashes that look like versions or numbers', undefined, ['1e10', '0123456', '7e3f2a1', '1234567', '12.34e5', '1.0.0'], '1.0.0'],
  ['a hash behind a version is its prerelease', undefined, ['1.0.0', '1.0.1-g7e3f2a1'], '1.0.0'],
  ['timestamps', undefined, ['20260301', '20260301120000', '2026-03-01T12-00-00', '1.0.0'], '1.0.0'],
  ['dates with leading zeros are none', undefined, ['2026.03.01', '2026.3.02'], undefined],
  ['dates without leading zeros are', undefined, ['2026.3.9', '2026.3.10', '2025.12.31'], '2026.3.10'],
  ['dates beside versions win: narrow them by a range', undefined, ['1.9.0', '2026.3.1'], '2026.3.1'],
  ['a range against dates', '<2000', ['1.9.0', '2026.3.1'], '1.9.0'],
  ['variants are prereleases', undefined, ['1.2.3', '1.2.4-alpine', '1.2.5-slim-bookworm'], '1.2.3'],
  ['zero versions', '^0.2.3', ['0.2.3', '0.2.9', '0.3.0'], '0.2.9'],
  ['numbers up to what is safe', undefined, ['9007199254740991.0.0', '1.0.0'], '9007199254740991.0.0'],
  ['larger numbers are none', undefined, ['9007199254740992.0.0', '99999999999999999999.0.0', '1.0.0'], '1.0.0'],
  ['an underscore where a registry allows no plus', undefined, ['1.2.3_build.5', '1.0.0'], '1.0.0'],
  ['other letters before the number', undefined, ['V1.2.3', 'release-1.2.3', 'v-1.2.3', '1.0.0'], '1.0.0'],
  ['an operator in a tag is none', undefined, ['=2.0.0', '>2.0.0', '1.0.0'], '1.0.0'],
  ['an upper bound keeps its prereleases out', '<2.0.0', ['1.9.0', '2.0.0-rc.1'], '1.9.0'],
  ['an exact version', '1.2.3', ['1.2.2', '1.2.3', '1.2.4'], '1.2.3'],
];

for (const [name, range, tags, selected] of table) {
  test(`the strategy semver selects the right tag in the case "${name}"`, () =>
    assert.equal(selectTag(semver(range === undefined ? {} : { range }), tags), selected));
}

const withPrereleases: typeof table = [
  ['prereleases when asked for', undefined, ['1.2.0', '2.0.0-rc.1', '2.0.0-rc.10', '2.0.0-rc.9'], '2.0.0-rc.10'],
  ['the release comes after its prereleases', undefined, ['2.0.0', '2.0.0-rc.1'], '2.0.0'],
  ['prereleases of every version in the range', '>=1.3.0', ['1.2.9', '1.4.0-rc.1'], '1.4.0-rc.1'],
  ['prereleases of what is outside stay outside', '1.x', ['1.9.0', '2.0.0-rc.1'], '1.9.0'],
  ['still no coercion', undefined, ['1.2-rc.1', 'v3'], undefined],
];

for (const [name, range, tags, selected] of withPrereleases) {
  test(`the strategy semver selects the right tag in the case "${name}"`, () =>
    assert.equal(selectTag(semver({ prereleases: true, ...(range !== undefined && { range }) }), tags), selected));
}

const rejections: [tag: string, range: string | undefined, why: RegExp][] = [
  ['latest', undefined, /^"latest" is not a semantic version$/],
  ['1.2', undefined, /^"1\.2" is not a semantic version, which has three numbers, not 2: nothing is filled in$/],
  ['v4', undefined, /three numbers, not 1/],
  ['1.2.3.4', undefined, /three numbers, not 4/],
  ['1.2-alpine', undefined, /three numbers, not 2/],
  ['2026.03.01', undefined, /no number may begin with 0: for dates use select\.alphabetical, or select\.numerical with tags\.extract/],
  ['0123456', undefined, /no number may begin with 0/],
  ['1e10', undefined, /^"1e10" is not a semantic version$/],
  ['99999999999999999999.0.0', undefined, /too large/],
  ['1.2.3-alpine', undefined, /is a prerelease by its "-alpine": if that is a variant .* tags\.allow and tags\.extract/],
  ['1.2.3-alpine3.20', '1.x', /is a prerelease by its "-alpine3\.20"/],
  ['1.4.0-rc.1', '>=1.3.0', /^"1\.4\.0-rc\.1" is a prerelease$/],
  ['1.4.0-20260301', '>=1.3.0', /^"1\.4\.0-20260301" is a prerelease$/],
  ['1.4.0-rc.1', '>=1.3.0-rc.1', /^"1\.4\.0-rc\.1" is a prerelease; of prereleases, .* only those of 1\.3\.0: .* prereleases: true$/],
  ['1.2.0-rc.1', '~1.2.x-0', /is a prerelease; "~1\.2\.x-0" admits no prereleases, although it names one: .* prereleases: true$/],
  ['1.3.0-alpha', '>=1.3.0-rc.1', /is a prerelease, and outside the range/],
  ['1.2.0', '>=1.3.0,  <2', /^"1\.2\.0" is outside the range ">=1\.3\.0,  <2"$/],
  ['3.0.0-rc.1', '<2', /a prerelease, and outside the range/],
  ['2.0.0-rc.1', undefined, /is a prerelease/],
  ['2.0.0', '1.x', /outside the range "1\.x"/],
  ['1'.repeat(300), undefined, /not a semantic version/],
];

for (const [tag, range, why] of rejections) {
  test(`the strategy semver says why ${tag.slice(0, 20)} is not selected`, () =>
    assert.match(semver(range === undefined ? {} : { range }).reject(tag) ?? 'selected', why));
}

test('the strategy semver describes what it selects', () => {
  assert.equal(semver({}).description, 'the highest stable version');
  assert.equal(semver({ range: ' 1.x ' }).description, 'the highest version in "1.x"');
  assert.equal(semver({ prereleases: true }).description, 'the highest version, prereleases included');
  assert.equal(semver({ range: '1.x', prereleases: true }).description, 'the highest version in "1.x", prereleases included');
});

for (const range of ['banana', '>=', '1.2.3.4', 'latest', `>=1.0.0 ${'<2.0.0 '.repeat(50)}`]) {
  test(`the strategy semver refuses the range ${range.slice(0, 20)}`, () => {
    assert.throws(
      () => semver({ range }),
      (error) => error instanceof PermanentError && error.reason === 'InvalidTagPolicy',
    );
  });
}

const ofCharts: [name: string, range: string | undefined, tags: string[], selected: string | undefined][] = [
  ['builds, of which OCI tags write "+" as "_"', undefined, ['1.2.3_1', '1.2.3_2', '1.2.2'], '1.2.3_2'],
  ['no prereleases without a range', undefined, ['1.2.0', '2.0.0-rc.1'], '1.2.0'],
  ['no prereleases in a range that names none', '>=1.0 <3', ['1.2.0', '2.0.0-rc.1'], '1.2.0'],
  ['prereleases of every version, where the range names one', '>=1.0.0-0', ['1.2.0', '1.3.0-rc.1', '2.0.0-rc.1_7'], '2.0.0-rc.1_7'],
  ['only of the alternative that names one', '1.0.0-0 - 1.9 || >=2', ['1.4.0-rc.1', '2.1.0-rc.1'], '1.4.0-rc.1'],
  ['a leading v', '1.x', ['v1.2.0'], 'v1.2.0'],
  ['a comma is "and"', '>=1.2, <2', ['1.1.9', '1.99.0', '2.0.0'], '1.99.0'],
  ['no coercion', undefined, ['1.2', '3', '1.2.3.4'], undefined],
];
for (const [name, range, tags, selected] of ofCharts) {
  test(`the strategy semver selects the version of a chart as Helm does in the case "${name}"`, () => {
    assert.equal(selectTag(semver({ ofCharts: true, ...(range !== undefined && { range }) }), tags), selected);
  });
}

test('the strategy semver says why a chart is not selected', () => {
  const strategy = semver({ ofCharts: true, range: '>=1 <2' });
  assert.match(strategy.reject('2.0.0_1') ?? '', /^"2\.0\.0_1" is outside the range/);
  assert.match(strategy.reject('1.5.0-rc.1') ?? '', /is a prerelease that the range ">=1 <2" does not admit: write prereleases: true/);
  assert.match(strategy.reject('latest') ?? '', /is not a semantic version/);
});
