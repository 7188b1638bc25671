/** One key of a Secret, as the API server encodes it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKey, readLine } from '../../../src/core/model/image-source.ts';

const data = { token: Buffer.from(' gehéim \n').toString('base64'), empty: '' };

test('a key of a Secret is decoded as it is, and as a line without the white space around it', () => {
  assert.deepEqual(readKey({ data }, 'token'), { text: ' gehéim \n', line: 'gehéim' });
  assert.deepEqual(readKey({ data }, 'empty'), { text: '', line: '' });
});

test('a key that a Secret has not got, or a Secret that cannot be read, is explained', () => {
  assert.deepEqual(readKey({ data }, 'other'), { why: 'has no key other' });
  assert.deepEqual(readKey({ data }, 'constructor'), { why: 'has no key constructor' });
  assert.deepEqual(readKey({ why: 'does not exist' }, 'token'), { why: 'does not exist' });
});

test('a token, an address or a signing key that is empty is as one that is missing', () => {
  const blank = { ...data, blank: Buffer.from(' \n').toString('base64') };
  assert.equal('line' in readLine({ data }, 'token'), true);
  assert.deepEqual(readLine({ data: blank }, 'empty'), { why: 'has nothing under the key empty' });
  assert.deepEqual(readLine({ data: blank }, 'blank'), { why: 'has nothing under the key blank' });
  assert.deepEqual(readLine({ data: blank }, 'other'), { why: 'has no key other' });
});
