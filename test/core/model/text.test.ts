import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cut } from '../../../src/core/model/text.ts';

test('a text is truncated to the maximum length, and never inside a character', () => {
  assert.equal(cut('1234', 4), '1234');
  assert.equal(cut('12345', 4), '123…');
  assert.equal(cut('12🚀5', 4), '12…');
  assert.equal(cut('1🚀456', 4), '1🚀…');
});
