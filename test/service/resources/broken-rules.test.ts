import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EvaluationError } from '@marcbachmann/cel-js';
import { brokenRules } from '../../../src/service/resources/validation/broken-rules.ts';

const hasEntries = { rule: 'has(self.list) && self.list.size() > 0', message: 'write a list' };
const isLower = { rule: `!self.matches('[A-Z]')`, message: 'write it in lower case', messageExpression: `'write ' + self.lowerAscii()` };

test('the messages of all CEL rules that a value breaks are returned', () => {
  assert.deepEqual(brokenRules([hasEntries, { rule: 'has(self.name)', message: 'write a name' }], {}, false), [
    'write a list',
    'write a name',
  ]);
  assert.deepEqual(brokenRules([hasEntries], { list: ['a'] }, false), []);
});

test('a messageExpression of a CEL rule is evaluated with the value', () => {
  assert.deepEqual(brokenRules([isLower], 'Web', false), ['write web']);
  assert.deepEqual(brokenRules([isLower], 'web', false), []);
});

test('only own properties of a value count as fields in CEL rules', () => {
  const rule = { rule: 'has(self.constructor) || has(self.__proto__)', message: 'neither' };
  assert.deepEqual(brokenRules([rule], {}, false), ['neither']);
});

test('a CEL rule that cannot be evaluated is skipped for a malformed value, and is an error otherwise', () => {
  assert.deepEqual(brokenRules([hasEntries], { list: 5 }, true), []);
  assert.throws(() => brokenRules([hasEntries], { list: 5 }, false), EvaluationError);
});

test('a rule that is not CEL is an error, whatever the value is', () => {
  assert.throws(() => brokenRules([{ rule: 'self.', message: '' }], { list: 5 }, true), { name: 'ParseError' });
});
