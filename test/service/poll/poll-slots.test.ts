import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pollSlotsOf } from '../../../src/service/poll/poll-slots.ts';

test('polls use a quarter of the slots of a host, and at least one', () => {
  const slotsOf = pollSlotsOf([
    { host: 'R.example.com:443', concurrency: 20 },
    { host: 'small.example.com', concurrency: 1 },
    { host: 'any.example.com' },
  ]);
  assert.deepEqual(['r.example.com', 'small.example.com', 'any.example.com', 'unknown.example.com'].map(slotsOf), [5, 1, 2, 2]);
});
