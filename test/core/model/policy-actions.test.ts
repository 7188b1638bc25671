import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatRequest, readRequest, requestedByAnnotation } from '../../../src/core/model/policy-actions.ts';
import { digestOf } from './samples.ts';

test('who requested an action is known as long as the action is as it was requested', () => {
  const actions = { approve: `1.0.0@${digestOf('a')}`, rollbackTo: 'previous 2026-03-01T12:00:00Z' };
  const by = (value: unknown) => readRequest({ [requestedByAnnotation]: value }, actions);
  assert.deepEqual(by(formatRequest('approve', actions.approve, 'ada lovelace')), { action: 'approve', user: 'ada lovelace' });
  assert.deepEqual(by(formatRequest('rollback', actions.rollbackTo, 'bob')), { action: 'rollback', user: 'bob' });
  for (const value of [undefined, 7, '', 'approve', formatRequest('approve', '1.0.1', 'ada'), formatRequest('release', '', 'ada')])
    assert.equal(by(value), undefined, String(value));
});
