import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyReader } from '../../../src/bases/compose-triggers.ts';

test('no request is signed with a key of a Secret that is missing or empty', async () => {
  const data = { key: Buffer.from('secret\n').toString('base64'), empty: '' };
  const read = keyReader(() => Promise.resolve({ data }));
  const options = { refresh: false, signal: new AbortController().signal };
  const ci = { namespace: 'platform', name: 'ci' };
  assert.equal(await read({ ...ci, key: 'key' }, options), 'secret');
  await assert.rejects(read({ ...ci, key: 'empty' }, options), /^PermanentError: Secret platform\/ci has nothing under the key empty$/);
  await assert.rejects(read({ ...ci, key: 'other' }, options), /Secret platform\/ci has no key other/);
});
