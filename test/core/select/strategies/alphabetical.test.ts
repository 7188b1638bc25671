import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectTag } from '../../../../src/core/select/select-tag.ts';
import { alphabetical } from '../../../../src/core/select/strategies/alphabetical.ts';

const table: [name: string, order: 'Ascending' | 'Descending', tags: string[], selected: string | undefined][] = [
  ['dates', 'Ascending', ['20260101', '20251231', '20260102'], '20260102'],
  ['dates with leading zeros', 'Ascending', ['2026.03.01', '2026.12.01', '2026.03.11'], '2026.12.01'],
  ['dates without leading zeros are in no order', 'Ascending', ['2026.9.1', '2026.10.1'], '2026.9.1'],
  ['1.9 after 1.10: versions are for semver', 'Ascending', ['1.9', '1.10'], '1.9'],
  ['times of RFC 3339', 'Ascending', ['2026-03-01T12-00-00Z', '2026-03-01T09-30-00Z'], '2026-03-01T12-00-00Z'],
  ['text, not numbers', 'Ascending', ['main-9', 'main-10'], 'main-9'],
  ['capitals before small letters', 'Ascending', ['Zeta', 'alpha'], 'alpha'],
  ['what is longer comes later', 'Ascending', ['a', 'ab'], 'ab'],
  ['the first one', 'Descending', ['20260101', '20251231', '20260102'], '20251231'],
  ['nothing', 'Ascending', [], undefined],
];

for (const [name, order, tags, selected] of table) {
  test(`the strategy alphabetical selects the right tag in the case "${name}"`, () =>
    assert.equal(selectTag(alphabetical({ order }), tags), selected));
}

test('the order is ascending unless the policy says otherwise', () => assert.equal(selectTag(alphabetical(), ['a', 'b']), 'b'));

test('equal names are not newer in either order', () => {
  for (const order of ['Ascending', 'Descending'] as const) assert.equal(alphabetical({ order }).compare('a', 'a'), 0);
});

test('says what is selected', () => {
  assert.equal(alphabetical().description, 'the alphabetically last tag');
  assert.equal(alphabetical({ order: 'Descending' }).description, 'the alphabetically first tag');
});
