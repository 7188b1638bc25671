import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type VerificationResult, wantSigner } from '../../../src/core/model/verification.ts';
import type { FoundSignature } from '../../../src/service/verify/find-signatures.ts';
import { readPublicKey } from '../../../src/service/verify/public-keys.ts';
import { type Trust, readTrustRoot } from '../../../src/service/verify/trust.ts';
import { verifySignatures } from '../../../src/service/verify/verify-signatures.ts';
import { digestOf } from '../../core/model/samples.ts';
import { ecSigner, pemOf, releaser, signBundle, signBundleKeyless, signSimple, signSimpleKeyless } from './cosign.ts';
import { createSigstore } from './sigstore.ts';

const digest = digestOf('a');
const ours = ecSigner();
const sigstore = createSigstore();
const trust: Trust = {
  keys: [readPublicKey('key', pemOf(ours))],
  signers: [wantSigner(releaser)],
  trustRoot: readTrustRoot(sigstore.trustedRoot),
};

async function verify(found: FoundSignature, of = digest): Promise<VerificationResult> {
  async function* one() {
    yield found;
  }
  return verifySignatures(one(), of, trust);
}

const bundles = [signBundle(digest, ours), signBundleKeyless(digest, { sigstore })];
const simples = [signSimple(digest, ours), signSimpleKeyless(digest, { sigstore })];
const flips = fc.array(fc.record({ at: fc.nat(), mask: fc.integer({ min: 1, max: 255 }) }), { minLength: 1, maxLength: 3 });

function flip(bytes: Buffer, changes: readonly { at: number; mask: number }[]): Buffer {
  const copy = Buffer.from(bytes);
  for (const { at, mask } of changes) copy[at % copy.length] = (copy[at % copy.length] ?? 0) ^ mask;
  return copy;
}

test('a mutated bundle never throws, and verifies only the same statement', async () => {
  const payloadOf = (json: Buffer) => (JSON.parse(json.toString('utf8')) as { dsseEnvelope: { payload: string } }).dsseEnvelope.payload;
  const property = fc.asyncProperty(fc.constantFrom(...bundles), flips, async ({ json }, changes) => {
    const changed = flip(json, changes);
    const { kind } = await verify({ kind: 'bundle', json: changed });
    // Other spellings of the same base64 are the same bytes.
    if (kind === 'verified') assert.deepEqual(Buffer.from(payloadOf(changed), 'base64'), Buffer.from(payloadOf(json), 'base64'));
  });
  await fc.assert(property, { numRuns: 300 });
});

test('a mutated payload of cosign 2 is not verified', async () => {
  const property = fc.asyncProperty(fc.constantFrom(...simples), flips, async (found, changes) => {
    const payload = flip(found.payload, changes);
    if (payload.equals(found.payload)) return;
    assert.equal((await verify({ ...found, payload })).kind, 'invalid');
  });
  await fc.assert(property, { numRuns: 300 });
});

test('reading any annotations of a signature never throws', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...simples),
    fc.nat(),
    fc.oneof(fc.string(), fc.json(), fc.base64String()),
    async (found, at, text) => {
      const names = Object.keys(found.annotations);
      const name = names[at % names.length] ?? '';
      await verify({ ...found, annotations: { ...found.annotations, [name]: text } });
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test('reading any signature bundle never throws', async () => {
  const property = fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (text) => {
    assert.equal((await verify({ kind: 'bundle', json: Buffer.from(text) })).kind, 'invalid');
  });
  await fc.assert(property, { numRuns: 300 });
});

test('a signature of one digest verifies no other', async () => {
  const hex = fc.stringMatching(/^[0-9a-f]{64}$/).map((text) => `sha256:${text}`);
  const property = fc.asyncProperty(fc.constantFrom(...bundles, ...simples), hex, async (found, other) => {
    if (other !== digest) assert.equal((await verify(found, other)).kind, 'invalid');
  });
  await fc.assert(property, { numRuns: 100 });
});
