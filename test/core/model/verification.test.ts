import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verificationSecrets } from '../../../src/core/model/verification.ts';
import { policyOf, specOf } from './samples.ts';

test("a verification depends on the Secrets of its keys, each once, in the policy's namespace", () => {
  const keys = ['a', 'b', 'a'].map((secret) => ({ secret, key: 'cosign.pub' }));
  const policy = policyOf({ spec: specOf({ verification: { keys, signers: [] } }) });
  assert.deepEqual(verificationSecrets(policy), [
    { namespace: 'shop', name: 'a' },
    { namespace: 'shop', name: 'b' },
  ]);
});

test('a policy without a verification or a usable spec depends on no Secret', () => {
  assert.deepEqual(verificationSecrets(policyOf()), []);
  assert.deepEqual(verificationSecrets(policyOf({ spec: { problem: { reason: 'InvalidPolicy', message: '' } } })), []);
});
