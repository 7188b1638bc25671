import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specWrittenAt } from '../../../src/core/model/written-at.ts';

const entry = (time: unknown, fields: object) => ({ manager: 'kubectl', time, fieldsV1: fields });

test('the time of a spec is that of its latest write by any manager, and writes of other fields do not count', () => {
  const entries = [
    entry('2026-11-23T12:00:05Z', { 'f:spec': { 'f:image': {} } }),
    entry('2026-11-23T12:00:04Z', { 'f:spec': {} }),
    entry('2026-11-23T12:00:09Z', { 'f:status': {}, 'f:metadata': { 'f:annotations': {} } }),
  ];
  assert.equal(specWrittenAt(entries), '2026-11-23T12:00:05Z');
});

test('a spec has no known write time if managedFields are missing or malformed', () => {
  for (const entries of [[], [null, 'x', 7], [entry(undefined, { 'f:spec': {} })], [{ time: '2026-11-23T12:00:05Z' }]])
    assert.equal(specWrittenAt(entries), undefined);
});
