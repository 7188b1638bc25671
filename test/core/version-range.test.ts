import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSatisfiable } from '../../src/core/version-range.ts';

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
] as const) {
  test(`"${range}": ${expected ? 'some version' : 'no version'} is in it`, () => assert.equal(isSatisfiable(range), expected));
}
