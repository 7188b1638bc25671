import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EvaluationError } from '@marcbachmann/cel-js';
import { brokenRules } from '../../../src/service/resources/validation/broken-rules.ts';

const hasEntries = { rule: 'has(self.list) && self.list.size() > 0', message: 'write a list' };
const isLower = { rule: `!self.matches('[A-Z]')`, message: 'write it in lower case', messageExpression: `'write ' + self.lowerAscii()` };

test('the messages of all broken rules are found', () => {
  assert.deepEqual(brokenRules([hasEntries, { rule: 'has(self.name)', message: 'write a name' }], {}, false), [
    'write a list',
    'write a name',
  ]);
  assert.deepEqual(brokenRules([hasEntries], { list: ['a'] }, false), []);
});

test('a message that is an expression names the value', () => {
  assert.deepEqual(brokenRules([isLower], 'Web', false), ['write web']);
  assert.deepEqual(brokenRules([isLower], 'web', false), []);
});

test('only own fields of a value are fields', () => {
  const rule = { rule: 'has(self.constructor) || has(self.__proto__)', message: 'neither' };
  assert.deepEqual(brokenRules([rule], {}, false), ['neither']);
});

test('a rule that cannot be evaluated is not checked if the value is malformed, and otherwise an error of ours', () => {
  assert.deepEqual(brokenRules([hasEntries], { list: 5 }, true), []);
  assert.throws(() => brokenRules([hasEntries], { list: 5 }, false), EvaluationError);
});

test('a rule that is no CEL is an error, whatever the value is', () => {
  assert.throws(() => brokenRules([{ rule: 'self.', message: '' }], { list: 5 }, true), { name: 'ParseError' });
});
