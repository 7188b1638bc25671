import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatRepository } from '../../../src/core/model/image-reference.ts';
import { type Verification, wantSigner } from '../../../src/core/model/verification.ts';
import type { SignatureRegistry } from '../../../src/service/verify/find-attached.ts';
import { createImageVerifier } from '../../../src/service/verify/image-verifier.ts';
import type { ReadSecret } from '../../../src/service/verify/public-keys.ts';
import { readTrustRoot } from '../../../src/service/verify/trust.ts';
import { digestOf, web } from '../../core/model/samples.ts';
import { ecSigner, pemOf, releaser, signBundle, signBundleKeyless, signSimple, type Signer } from './cosign.ts';
import { createFakeSignatures } from './fake-signatures.ts';
import { createSigstore } from './sigstore.ts';

const digest = digestOf('a');
const ours = ecSigner();
const sigstore = createSigstore();
const { signal } = new AbortController();
const keys = [{ secret: 'cosign', key: 'cosign.pub' }];
const byKey: Verification = { keys, signers: [] };
const byReleaser: Verification = { keys: [], signers: [wantSigner(releaser)] };

const encode = (text: string) => Buffer.from(text).toString('base64');
const holding = (signer: Signer): Record<string, string> => ({ 'cosign.pub': encode(pemOf(signer)) });

/** A verifier with one Secret, whose content may change. */
function start({ secret = holding(ours), trustRoot = true }: { secret?: Record<string, string>; trustRoot?: boolean } = {}) {
  const fake = createFakeSignatures();
  const world = { ...fake, secret };
  const readSecret: ReadSecret = async ({ namespace, name }) =>
    `${namespace}/${name}` === 'shop/cosign' ? { data: world.secret } : { why: 'does not exist' };
  const verify = createImageVerifier({ ...fake, readSecret, trustRoot: trustRoot ? readTrustRoot(sigstore.trustedRoot) : undefined });
  return Object.assign(world, {
    verify: (verification: Verification = byKey, of = digest) =>
      verify({ source: web, digest: of, verification, namespace: 'shop' }, signal),
  });
}

describe('a verified image', () => {
  test('is not verified again', async () => {
    const world = start();
    world.putTag(digest, [signSimple(digest, ours)]);
    assert.deepEqual(await world.verify(), { kind: 'verified', by: 'key cosign.pub of Secret shop/cosign' });
    const asked = world.requests.length;
    assert.equal((await world.verify()).kind, 'verified');
    assert.equal(world.requests.length, asked);
  });

  test('is verified again with another key under the same name', async () => {
    const world = start();
    world.putTag(digest, [signSimple(digest, ours)]);
    await world.verify();
    world.secret = holding(ecSigner());
    assert.equal((await world.verify()).kind, 'invalid');
  });

  test('is verified again for another digest and for another signer', async () => {
    const world = start();
    world.putTag(digest, [signSimple(digest, ours)]);
    world.putReferrer(digest, signBundleKeyless(digest, { sigstore }));
    await world.verify();
    assert.equal((await world.verify(byKey, digestOf('b'))).kind, 'unsigned');
    assert.equal((await world.verify(byReleaser)).kind, 'verified');
    const stranger = { keys: [], signers: [wantSigner({ ...releaser, identity: 'ada@example.com' })] };
    assert.equal((await world.verify(stranger)).kind, 'invalid');
  });
});

test('an unsigned image is verified once it is signed', async () => {
  const world = start();
  assert.equal((await world.verify()).kind, 'unsigned');
  world.putReferrer(digest, signBundle(digest, ours));
  assert.equal((await world.verify()).kind, 'verified');
});

describe('unusable keys', () => {
  const rows: readonly (readonly [name: string, secret: Record<string, string> | undefined, why: RegExp])[] = [
    ['a Secret without the key', {}, /Secret shop\/cosign has no key cosign\.pub/],
    ['a key of every object', { constructor: 'x' }, /has no key cosign\.pub/],
    ['garbage', { 'cosign.pub': encode('x') }, /key cosign\.pub of Secret shop\/cosign cannot be used: it is not one public key/],
    ['a private key', { 'cosign.pub': encode('-----BEGIN PRIVATE KEY-----') }, /is a private key/],
  ];
  for (const [name, secret = {}, message] of rows) {
    test(`are reported in the case "${name}"`, async () => {
      await assert.rejects(start({ secret }).verify(), { name: 'PermanentError', reason: 'VerificationKeyInvalid', message });
    });
  }

  test('of a Secret that does not exist are an error', async () => {
    const verification = { keys: [{ secret: 'other', key: 'a' }], signers: [] };
    await assert.rejects(start().verify(verification), { reason: 'VerificationKeyInvalid', message: /Secret shop\/other does not exist/ });
  });

  test('of a Secret that may not be read are an error', async () => {
    const readSecret = async () => ({ why: 'may not be read' });
    const verify = createImageVerifier({ ...createFakeSignatures(), readSecret });
    const request = { source: web, digest, verification: byKey, namespace: 'shop' };
    await assert.rejects(verify(request, signal), { reason: 'VerificationKeyInvalid', message: /may not be read/ });
  });

  test('of a Secret that cannot be read at present are retried', async () => {
    const readSecret = async () => Promise.reject(new Error('503'));
    const verify = createImageVerifier({ ...createFakeSignatures(), readSecret });
    await assert.rejects(verify({ source: web, digest, verification: byKey, namespace: 'shop' }, signal), {
      name: 'Error',
      message: '503',
    });
  });

  test('do not prevent the use of other keys', async () => {
    const world = start();
    const verification = { keys: [{ secret: 'other', key: 'a' }, ...keys], signers: [] };
    assert.match(JSON.stringify(await world.verify(verification)), /"unsigned".*Secret shop\/other does not exist/);
    world.putTag(digest, [signSimple(digest, ours)]);
    assert.equal((await world.verify(verification)).kind, 'verified');
  });
});

test('a registry so slow that reading signatures would take hours is a retryable error', async () => {
  let now = 0;
  const fake = createFakeSignatures();
  const readBlob: SignatureRegistry['readBlob'] = async (...asked) => {
    now += 9_900;
    return fake.registry.readBlob(...asked);
  };
  const verify = createImageVerifier({
    registry: { ...fake.registry, readBlob },
    readSecret: async () => ({ data: holding(ours) }),
    now: () => now,
  });
  for (let index = 0; index < 32; index++) fake.putReferrer(digest, signBundle(digest, ecSigner()));
  await assert.rejects(verify({ source: web, digest, verification: byKey, namespace: 'shop' }, signal), {
    name: 'Error',
    message: `reading signatures of ${formatRepository(web)}@${digest} took longer than 5 min`,
  });
  assert.equal(now, 31 * 9_900);
});

describe('without a trust root', () => {
  test('keyless signatures cannot be required', async () => {
    await assert.rejects(start({ trustRoot: false }).verify(byReleaser), {
      reason: 'TrustRootMissing',
      message: /by https:\/\/github\.com.* verification\.trustRootFile/,
    });
  });

  test('keys still count, and the message says that keyless signatures are not verified', async () => {
    const world = start({ trustRoot: false });
    const both = { ...byReleaser, keys };
    assert.match(JSON.stringify(await world.verify(both)), /"unsigned".*keyless signatures are not verified/);
    world.putTag(digest, [signSimple(digest, ours)]);
    assert.equal((await world.verify(both)).kind, 'verified');
  });
});
