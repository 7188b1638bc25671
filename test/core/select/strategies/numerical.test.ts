import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { selectTag } from '../../../../src/core/select/select-tag.ts';
import { numerical } from '../../../../src/core/select/strategies/numerical.ts';

const table: [name: string, tags: string[], selected: string | undefined][] = [
  ['numbers, not text', ['9', '10', '2'], '10'],
  ['beyond what a double can tell apart', ['9007199254740992', '9007199254740993', '9007199254740991'], '9007199254740993'],
  ['timestamps with a counter', ['202601010000000000000001', '202601010000000000000002'], '202601010000000000000002'],
  ['leading zeros count for nothing', ['010', '9', '0008'], '010'],
  ['git hashes without letters are numbers: narrow them by tags.allow', ['7', '0123456', '1e10', 'a1b2c3d'], '0123456'],
  ['dates and times in one', ['20260301', '202603011200'], '202603011200'],
  ['zero', ['0', '00'], '00'],
  ['nothing is coerced', ['1.5', 'v7', '0x10', '1e9', '-1', '7 ', '', 'latest', '١٢'], undefined],
];

for (const [name, tags, selected] of table) {
  test(`the strategy numerical selects the right tag in the case "${name}"`, () => assert.equal(selectTag(numerical(), tags), selected));
}

test('the strategy numerical compares numbers of any size', () => {
  const digits = fc.stringMatching(/^[0-9]{1,40}$/);
  fc.assert(
    fc.property(digits, digits, (a, b) => {
      const expected = BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
      assert.equal(Math.sign(numerical().compare(a, b)), expected);
    }),
  );
});

test('the strategy numerical describes what it selects, and says why a tag is rejected', () => {
  assert.equal(numerical().description, 'the numerically greatest tag');
  assert.equal(numerical().reject('v7'), '"v7" is not a whole number');
});
