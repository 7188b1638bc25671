import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoundedLabel } from '../../src/telemetry/bounded-label.ts';

test('the first values keep their names, however often they come, and all others are one', () => {
  const label = createBoundedLabel(2);
  assert.deepEqual(['a', 'a', 'b', 'c', 'd', 'a'].map(label), ['a', 'a', 'b', 'other', 'other', 'a']);
});
