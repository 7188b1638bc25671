import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PullSecret } from '../../../../src/core/model/image-source.ts';
import { pullSecretCredentials } from '../../../../src/service/registry/credentials/pull-secrets.ts';
import { imageAt, testSource } from './conformance.ts';
import { secretWorld } from './secret-world.ts';

const host = 'r.example.com';
const expected = { username: 'me', password: 'pa55word' };
const secret = (name: string, namedBy: PullSecret['namedBy'] = 'policy'): PullSecret => ({ namespace: 'shop', name, namedBy });

async function start(auths: object) {
  const { readSecret, reads } = secretWorld({ 'shop/creds': auths });
  const image = imageAt(host, { secrets: [secret('creds')] });
  return { source: pullSecretCredentials({ readSecret }), image, expected, asked: () => reads.length };
}

testSource({
  name: 'pull-secrets',
  start: () => start({ [host]: expected }),
  startWithout: () => start({ 'other.example.com': expected }),
  why: /^has no entry for r\.example\.com$/,
  foreign: [host],
});

test('pull Secrets are offered in order, each with the object that names it', () => {
  const secrets = [secret('a'), secret('b', 'target'), secret('c', 'serviceAccount')];
  const offers = pullSecretCredentials(secretWorld({}))(imageAt(host, { secrets }));
  assert.deepEqual(
    offers.map(({ source }) => source),
    [
      'Secret shop/a',
      'Secret shop/b, an imagePullSecret of the target,',
      "Secret shop/c, an imagePullSecret of the target's service account,",
    ],
  );
});
