import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTargetSecrets } from '../../src/notify/target-secrets.ts';

test('a target whose secret is empty is not used, because anybody could sign as it does', async () => {
  const data = { url: Buffer.from('https://hooks.example.com/x').toString('base64'), secret: Buffer.from('\n').toString('base64') };
  const { problemOf } = createTargetSecrets(() => Promise.resolve({ data }), ['hooks.example.com']);
  const keys = { urlSecret: { name: 'hook', key: 'url' }, secret: { name: 'hook', key: 'secret' } };
  const spec = { type: 'webhook', ...keys, events: [], policyLabels: {}, suspended: false } as const;
  assert.deepEqual(await problemOf('shop', spec), {
    reason: 'SecretNotUsable',
    message: 'the Secret hook has nothing under the key secret',
  });
});
