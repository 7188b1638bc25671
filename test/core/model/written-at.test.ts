import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specWrittenAt } from '../../../src/core/model/written-at.ts';

const entry = (time: unknown, fields: object) => ({ manager: 'kubectl', time, fieldsV1: fields });

test('the latest write of the spec counts, whoever made it, and no other one', () => {
  const entries = [
    entry('2026-11-23T12:00:05Z', { 'f:spec': { 'f:image': {} } }),
    entry('2026-11-23T12:00:04Z', { 'f:spec': {} }),
    entry('2026-11-23T12:00:09Z', { 'f:status': {}, 'f:metadata': { 'f:annotations': {} } }),
  ];
  assert.equal(specWrittenAt(entries), '2026-11-23T12:00:05Z');
});

test('nothing is said where the fields are missing or of another form', () => {
  for (const entries of [[], [null, 'x', 7], [entry(undefined, { 'f:spec': {} })], [{ time: '2026-11-23T12:00:05Z' }]])
    assert.equal(specWrittenAt(entries), undefined);
});
