import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionAnnotations, formatRequest, readRequest, requestedByAnnotation } from '../../../src/core/model/policy-actions.ts';
import { digestOf } from './samples.ts';

test('who requested an action is known as long as the action is as it was requested', () => {
  const actions = { approve: `1.0.0@${digestOf('a')}`, rollbackTo: 'previous 2026-03-01T12:00:00Z' };
  const by = (value: unknown) =>
    readRequest({
      [actionAnnotations.approve]: actions.approve,
      [actionAnnotations.rollbackTo]: actions.rollbackTo,
      [requestedByAnnotation]: value,
    });
  assert.deepEqual(by(formatRequest('approve', actions.approve, 'ada lovelace')), { action: 'approve', user: 'ada lovelace' });
  assert.deepEqual(by(formatRequest('rollback', actions.rollbackTo, 'bob')), { action: 'rollback', user: 'bob' });
  for (const value of [undefined, 7, '', 'approve', formatRequest('approve', '1.0.1', 'ada'), formatRequest('release', '', 'ada')])
    assert.equal(by(value), undefined, String(value));
});

test('nobody is named as the user by the end of a value', () => {
  // The admission policy has compared the whole text: action, value as it is written, own name.
  const values = [
    `previous ${'x'.repeat(244)} ada${' '.repeat(253)}`,
    `previous ${'x'.repeat(244)} ada`,
    'previous',
    'previous  ',
    ' previous',
  ];
  for (const value of values) {
    const annotations = { [actionAnnotations.rollbackTo]: value, [requestedByAnnotation]: formatRequest('rollback', value, 'mallory') };
    assert.deepEqual(readRequest(annotations), { action: 'rollback', user: 'mallory' }, JSON.stringify(value));
  }
});
