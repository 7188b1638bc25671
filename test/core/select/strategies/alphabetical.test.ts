import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectTag } from '../../../../src/core/select/select-tag.ts';
import { alphabetical } from '../../../../src/core/select/strategies/alphabetical.ts';

const table: [name: string, tags: string[], selected: string | undefined][] = [
  ['dates', ['20260101', '20251231', '20260102'], '20260102'],
  ['dates with leading zeros', ['2026.03.01', '2026.12.01', '2026.03.11'], '2026.12.01'],
  ['dates without leading zeros are in no order', ['2026.9.1', '2026.10.1'], '2026.9.1'],
  ['1.9 after 1.10: versions are for semver', ['1.9', '1.10'], '1.9'],
  ['times of RFC 3339', ['2026-03-01T12-00-00Z', '2026-03-01T09-30-00Z'], '2026-03-01T12-00-00Z'],
  ['text, not numbers', ['main-9', 'main-10'], 'main-9'],
  ['capitals before small letters', ['Zeta', 'alpha'], 'alpha'],
  ['what is longer comes later', ['a', 'ab'], 'ab'],
  ['nothing', [], undefined],
];

for (const [name, tags, selected] of table) {
  test(`the strategy alphabetical selects the right tag in the case "${name}"`, () =>
    assert.equal(selectTag(alphabetical(), tags), selected));
}

test('the strategy alphabetical ranks equal names equally', () => assert.equal(alphabetical().compare('a', 'a'), 0));

test('the strategy alphabetical describes what it selects', () => assert.equal(alphabetical().description, 'the alphabetically last tag'));
