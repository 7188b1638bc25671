import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fallbackSecretCredentials } from '../../../../src/service/registry/credentials/fallback-secret.ts';
import { imageAt, testSource } from './conformance.ts';
import { secretWorld } from './secret-world.ts';

const host = 'r.example.com';
const expected = { username: 'me', password: 'pa55word' };
const secret = { namespace: 'operators', name: 'creds' };

async function start(secrets: Record<string, object>) {
  const { readSecret, reads } = secretWorld(secrets);
  return { source: fallbackSecretCredentials({ secret, readSecret }), image: imageAt(host), expected, asked: () => reads.length };
}

testSource({
  name: 'fallback-secret',
  start: () => start({ 'operators/creds': { [host]: expected } }),
  startWithout: () => start({}),
  why: /^does not exist$/,
});

test('the fallback Secret is not tried twice when a policy names it as well', () => {
  const source = fallbackSecretCredentials({ secret, readSecret: secretWorld({}).readSecret });
  assert.equal(source(imageAt(host, { secrets: [{ ...secret, namedBy: 'policy' }] })).length, 0);
  assert.equal(source(imageAt(host, { secrets: [{ ...secret, namespace: 'shop', namedBy: 'policy' }] })).length, 1);
});
