import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../../src/core/errors.ts';
import { selectTag } from '../../../src/core/select-tag.ts';
import { semver } from '../../../src/core/strategies/semver.ts';

const table: [name: string, range: string | undefined, tags: string[], selected: string | undefined][] = [
  ['numbers, not text', undefined, ['1.9.0', '1.10.0', '1.2.0'], '1.10.0'],
  ['the highest stable version', undefined, ['1.2.0', '2.0.0-rc.1', 'latest'], '1.2.0'],
  ['only prereleases', undefined, ['2.0.0-rc.1', '2.0.0-beta'], undefined],
  ['a leading v', undefined, ['v1.2.0', 'v1.3.0'], 'v1.3.0'],
  ['no coercion', undefined, ['1.2', '3', 'v4', '1.02.3', '1.2.3.4', 'version-5.0.0'], undefined],
  ['a line', '1.18.*', ['1.17.9', '1.18.3', '1.18.20', '1.19.0'], '1.18.20'],
  ['two bounds', '>=1.2 <2', ['1.1.9', '1.2.0', '1.99.0', '2.0.0'], '1.99.0'],
  ['alternatives', '1.x || >=3.1', ['1.5.0', '2.9.0', '3.0.0', '3.1.0'], '3.1.0'],
  ['caret and tilde', '^1.2.3', ['1.2.2', '1.9.0', '2.0.0'], '1.9.0'],
  ['prereleases where the range names one', '>=1.3.0-rc.1', ['1.2.9', '1.3.0-beta', '1.3.0-rc.1', '1.3.0-rc.2'], '1.3.0-rc.2'],
  ['no prereleases of other versions', '>=1.3.0-rc.1', ['1.4.0-rc.1'], undefined],
  ['an empty range is none', '  ', ['1.2.0', '2.0.0-rc.1'], '1.2.0'],
  ['an exact version', '1.2.3', ['1.2.2', '1.2.3', '1.2.4'], '1.2.3'],
];

for (const [name, range, tags, selected] of table) {
  test(name, () => assert.equal(selectTag(semver(range === undefined ? {} : { range }), tags), selected));
}

const withPrereleases: typeof table = [
  ['prereleases when asked for', undefined, ['1.2.0', '2.0.0-rc.1', '2.0.0-rc.10', '2.0.0-rc.9'], '2.0.0-rc.10'],
  ['the release comes after its prereleases', undefined, ['2.0.0', '2.0.0-rc.1'], '2.0.0'],
  ['prereleases of every version in the range', '>=1.3.0', ['1.2.9', '1.4.0-rc.1'], '1.4.0-rc.1'],
  ['prereleases of what is outside stay outside', '1.x', ['1.9.0', '2.0.0-rc.1'], '1.9.0'],
  ['still no coercion', undefined, ['1.2-rc.1', 'v3'], undefined],
];

for (const [name, range, tags, selected] of withPrereleases) {
  test(name, () => assert.equal(selectTag(semver({ prereleases: true, ...(range !== undefined && { range }) }), tags), selected));
}

const rejections: [tag: string, range: string | undefined, why: RegExp][] = [
  ['latest', undefined, /"latest" is not a semantic version/],
  ['1.2', undefined, /not a semantic version/],
  ['2.0.0-rc.1', undefined, /is a prerelease/],
  ['2.0.0', '1.x', /outside the range "1\.x"/],
  ['1'.repeat(300), undefined, /not a semantic version/],
];

for (const [tag, range, why] of rejections) {
  test(`says why not ${tag.slice(0, 20)}`, () => assert.match(semver(range === undefined ? {} : { range }).reject(tag) ?? 'selected', why));
}

test('says what is selected', () => {
  assert.equal(semver({}).description, 'the highest stable version');
  assert.equal(semver({ range: ' 1.x ' }).description, 'the highest version in "1.x"');
  assert.equal(semver({ prereleases: true }).description, 'the highest version, prereleases included');
  assert.equal(semver({ range: '1.x', prereleases: true }).description, 'the highest version in "1.x", prereleases included');
});

for (const range of ['banana', '>=', '1.2.3.4', 'latest', `>=1.0.0 ${'<2.0.0 '.repeat(50)}`]) {
  test(`refuses the range ${range.slice(0, 20)}`, () => {
    assert.throws(
      () => semver({ range }),
      (error) => error instanceof PermanentError && error.reason === 'InvalidTagPolicy',
    );
  });
}
