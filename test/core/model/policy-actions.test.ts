import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  actionAnnotations,
  maxReason,
  readRequest,
  requestAnnotations,
  requestedByAnnotation,
} from '../../../src/core/model/policy-actions.ts';
import { digestOf } from './samples.ts';

test('the user of a request is known only while the action is unchanged since the request', () => {
  const actions = { approve: `1.0.0@${digestOf('a')}`, rollbackTo: 'previous 2026-03-01T12:00:00Z' };
  const by = (value: unknown) =>
    readRequest({
      [actionAnnotations.approve]: actions.approve,
      [actionAnnotations.rollbackTo]: actions.rollbackTo,
      [requestedByAnnotation]: value,
    });
  assert.deepEqual(by(`approve ${actions.approve} ada lovelace`), { action: 'approve', user: 'ada lovelace' });
  assert.deepEqual(by(`rollback ${actions.rollbackTo} bob`), { action: 'rollback', user: 'bob' });
  for (const value of [undefined, 7, '', 'approve', 'approve 1.0.1 ada', 'release  ada', `approve ${actions.approve} `])
    assert.equal(by(value), undefined, String(value));
});

test('a value that ends like a user name does not make anybody else the user of a request', () => {
  // The admission policy has compared the whole text: action, value as it is written, own name.
  const values = [
    `previous ${'x'.repeat(244)} ada${' '.repeat(253)}`,
    `previous ${'x'.repeat(244)} ada`,
    'previous',
    'previous  ',
    ' previous',
  ];
  for (const value of values) {
    const annotations = { [actionAnnotations.rollbackTo]: value, [requestedByAnnotation]: `rollback ${value} mallory` };
    assert.deepEqual(readRequest(annotations), { action: 'rollback', user: 'mallory' }, JSON.stringify(value));
  }
});

test('a request is written with its user and its reason, and read back with them', () => {
  const value = 'previous 2026-03-01T12:00:00Z';
  const written = requestAnnotations('rollback', value, { user: 'ada', reason: 'payments fail' });
  assert.deepEqual(readRequest(written), { action: 'rollback', user: 'ada', reason: 'payments fail' });
  const long = requestAnnotations('rollback', value, { user: 'ada', reason: 'x'.repeat(maxReason + 1) });
  assert.equal(readRequest(long)?.reason?.length, maxReason);
});

test('a reason belongs to one request, and is not read for the next request', () => {
  const first = requestAnnotations('rollback', 'previous 2026-03-01T12:00:00Z', { user: 'ada', reason: 'payments fail' });
  const next = requestAnnotations('rollback', 'previous 2026-03-01T13:00:00Z', { user: 'bob' });
  assert.deepEqual(readRequest({ ...first, ...next }), { action: 'rollback', user: 'bob' });
  // Somebody who writes only the annotation of the action is not given the name or the reason of somebody else.
  assert.equal(readRequest({ ...first, [actionAnnotations.rollbackTo]: '1.3.0' }), undefined);
});
