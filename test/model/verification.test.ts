import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verificationSecrets } from '../../src/model/verification.ts';
import { policyOf, specOf } from './samples.ts';

test('the Secrets of a verification are those of its keys, each once, in the namespace of the policy', () => {
  const keys = ['a', 'b', 'a'].map((secret) => ({ secret, key: 'cosign.pub' }));
  const policy = policyOf({ spec: specOf({ verification: { keys, signers: [] } }) });
  assert.deepEqual(verificationSecrets(policy), [
    { namespace: 'shop', name: 'a' },
    { namespace: 'shop', name: 'b' },
  ]);
});

test('a policy without a verification, or without a usable spec, depends on none', () => {
  assert.deepEqual(verificationSecrets(policyOf()), []);
  assert.deepEqual(verificationSecrets(policyOf({ spec: { problem: { reason: 'InvalidPolicy', message: '' } } })), []);
});
