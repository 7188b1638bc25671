import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { admittedPrereleases, describePrereleases, isSatisfiable, parseVersionRange } from '../../../src/core/select/version-range.ts';

for (const [range, expected] of [
  ['', true],
  ['*', true],
  ['1.18.*', true],
  ['>=1.4 <2', true],
  ['>1.0.0-rc.1 <1.0.0-rc.2', true],
  ['<0.0.1', true],
  ['>0.5 <0.1 || >2', true],
  ['>2 <1', false],
  ['>2 <1 || 1.0.0 2.0.0', false],
  ['<0.0.0', false],
  ['>=1.0.0, <2.0.0', true],
  ['>2, <1', false],
] as const) {
  test(`${expected ? 'some' : 'no'} version is in "${range}"`, () => assert.equal(isSatisfiable(parseVersionRange(range)), expected));
}

for (const [range, version, expected] of [
  ['>=1.0.0, <2.0.0', '1.9.0', true],
  ['>=1.0.0, <2.0.0', '2.0.0', false],
  ['>=1.0.0,<2.0.0', '0.9.0', false],
  ['>=1.0.0, <1.2.0 || >=3, <4', '3.1.0', true],
  ['>=1.0.0, <1.2.0 || >=3, <4', '1.3.0', false],
] as const) {
  test(`a comma is "and": ${version} is ${expected ? '' : 'not '}in "${range}"`, () =>
    assert.equal(parseVersionRange(range).test(version), expected));
}

for (const [range, message] of [
  ['>=1.0.0,', /comma with nothing before or after it/],
  [', >=1.0.0', /comma with nothing before or after it/],
  ['>=1.0.0,, <2', /comma with nothing before or after it/],
  ['!=1.2.3', /the range "!=1\.2\.3" has "!=", .* tags\.ignore, such as '\^v\?1\\\.2\\\.3\$'$/],
  ['>=1.0.0, != v1.2.3-rc.1', /tags\.ignore, such as '\^v\?1\\\.2\\\.3-rc\\\.1\$'$/],
  ['!=1.2.x', /tags\.ignore, such as '\^v\?1\\\.2\\\.'$/],
  ['banana', /write a version range such as/],
] as const) {
  test(`the range "${range}" is refused, with what to write instead`, () =>
    assert.throws(() => parseVersionRange(range), { reason: 'InvalidTagPolicy', message }));
}

test('the suggestion instead of "!=" excludes exactly that version', () => {
  const pattern = /such as '(.*)'$/.exec(messageOf(() => parseVersionRange('>=1.0.0 !=1.2.3')))?.[1] ?? '';
  const strategy = filterTags(strategies.semver({ range: '>=1.0.0' }), { ignore: [pattern] });
  const isSelected = (tag: string) => strategy.reject(tag) === undefined;
  assert.deepEqual(['1.2.3', 'v1.2.3', '1.2.30', '11.2.3', '1.2.4'].map(isSelected), [false, false, true, true, true]);
});

for (const [range, admitted] of [
  ['>=1.0.0', []],
  ['>=1.0.0-0', ['1.0.0']],
  ['^1.2.0-alpha.0', ['1.2.0']],
  ['>=1.0.0-0 <2.0.0-0', ['1.0.0']],
  ['>=1.0.0-rc.1 <2.0.0-rc.1 || 3.0.0-beta', ['1.0.0', '2.0.0', '3.0.0']],
  ['>1.0.0-rc.1', ['1.0.0']],
  ['<2.0.0-0', []],
  ['~1.2.x-0', []],
  ['*', []],
] as const) {
  test(`"${range}" admits prereleases of ${admitted.join(', ') || 'nothing'}`, () => {
    const parsed = parseVersionRange(range);
    assert.deepEqual(admittedPrereleases(parsed), admitted);
    const note = describePrereleases(range, parsed);
    if (!/\d-|x-/.test(range)) assert.equal(note, undefined);
    else {
      for (const version of admitted) assert.ok(note?.includes(version), note);
      assert.match(note ?? '', admitted.length === 0 ? /admits no prereleases, although it names one/ : /admits only those of/);
      assert.match(note ?? '', /prereleases: true$/);
    }
  });
}

test('hyphen ranges and build metadata name no prerelease', () => {
  for (const range of ['1.0.0 - 2.0.0', '>=1.0.0+build-5', '1.x'])
    assert.equal(describePrereleases(range, parseVersionRange(range)), undefined);
});

function messageOf(act: () => unknown): string {
  try {
    act();
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}
