import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTrustRoot } from '../../../src/service/verify/trust.ts';
import { createSigstore } from './sigstore.ts';

test('the authorities and logs of a trust root are read', () => {
  const { certificateAuthorities, tlogs, ctlogs } = readTrustRoot(createSigstore().trustedRoot);
  assert.deepEqual([certificateAuthorities.length, tlogs.length, ctlogs.length], [1, 1, 1]);
});

const rows: readonly (readonly [name: string, text: string, why: RegExp])[] = [
  ['no JSON', 'x', /JSON/],
  ['an empty object', '{}', /has no certificateAuthorities, ctlogs, tlogs/],
  ['something else', '{"tlogs": 5}', /./],
  ['a key that is none', createSigstore().trustedRoot.replaceAll(/"rawBytes":"[^"]+"/g, '"rawBytes":"AAAA"'), /./],
];
for (const [name, text, why] of rows) test(`${name} is not a trust root`, () => assert.throws(() => readTrustRoot(text), why));
