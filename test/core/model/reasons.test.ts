import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasons } from '../../../src/core/model/reasons.ts';

test('reasons are CamelCase words, as metav1.Condition requires, each with a distinct meaning', () => {
  for (const [reason, meaning] of Object.entries(reasons)) {
    assert.match(reason, /^[A-Z][A-Za-z]{1,62}$/);
    assert.match(meaning, /^[a-z].*[^.]$/);
  }
  assert.equal(new Set(Object.values(reasons)).size, Object.keys(reasons).length);
});
