import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { test } from 'node:test';
import { findSigningKey, isSignedBy, readPublicKey } from '../../../src/service/verify/public-keys.ts';
import { ecSigner, pemOf, rsaSigner } from './cosign.ts';

const dsa = generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 });
const x25519 = generateKeyPairSync('x25519');
const privatePem = ecSigner().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const spki = { type: 'spki', format: 'pem' } as const;

/** An RSA key of this size with this exponent. Nobody has its private key. */
const rsaKey = (bits: number, exponent: Buffer): string => {
  const modulus = Buffer.alloc(bits / 8, 0xff);
  const jwk: JsonWebKey = { kty: 'RSA', n: modulus.toString('base64url'), e: exponent.toString('base64url') };
  return createPublicKey({ key: jwk, format: 'jwk' }).export(spki).toString();
};
const usualExponent = Buffer.from([1, 0, 1]);

const rows: readonly (readonly [name: string, text: string, why: RegExp])[] = [
  ['nothing', '', /not one public key in PEM form/],
  ['garbage', 'ssh-ed25519 AAAA', /not one public key in PEM form/],
  ['a private key', privatePem, /is a private key: use the public key/],
  ['the private key of cosign', '-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nAAAA\n', /is a private key/],
  ['a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', /not one public key in PEM form/],
  ['two keys', pemOf(ecSigner()) + pemOf(ecSigner()), /not one public key in PEM form/],
  ['a key that was cut', pemOf(ecSigner()).replace(/^[A-Za-z0-9].*$/m, 'MFkw'), /cannot be read as a public key/],
  ['a short RSA key', pemOf(rsaSigner(1024)), /it has 1024 bits, and RSA needs 2048/],
  ['a huge RSA key', rsaKey(16_384, usualExponent), /it has 16384 bits, and RSA keys may have up to 8192/],
  ['an RSA key with a huge exponent', rsaKey(3072, Buffer.alloc(383, 0xff)), /its exponent is larger than 2147483647/],
  ['a curve of others', pemOf(ecSigner('secp256k1')), /its curve secp256k1 is not supported/],
  ['DSA', dsa.publicKey.export(spki).toString(), /keys of type dsa are not supported/],
  ['a key that cannot sign', x25519.publicKey.export(spki).toString(), /keys of type x25519 are not supported/],
  ['megabytes', pemOf(ecSigner()) + ' '.repeat(20_000), /not one public key in PEM form/],
];
for (const [name, text, why] of rows) {
  test(`${name} is not a key`, () => assert.throws(() => readPublicKey('k', text), { message: why }));
}

test('garbage is not verified as a signature', async () => {
  for (const signer of [ecSigner(), rsaSigner()]) {
    const key = readPublicKey('k', pemOf(signer));
    for (const signature of [Buffer.alloc(0), Buffer.from('garbage'), Buffer.alloc(512, 0xff)])
      assert.equal(await isSignedBy(key, Buffer.from('x'), signature), false);
  }
});

test('verification with many keys lets the event loop go on after each key', async () => {
  let turns = 0;
  let isFound = false;
  const count = () => {
    turns++;
    if (!isFound) setImmediate(count);
  };
  setImmediate(count);
  const keys = Array.from({ length: 8 }, () => readPublicKey('k', rsaKey(8192, usualExponent)));
  assert.equal(await findSigningKey(keys, Buffer.from('x'), Buffer.alloc(1024, 1)), undefined);
  isFound = true;
  assert.ok(turns >= keys.length, `${turns} turns`);
});

test('RSA keys in PKCS #1 PEM are read as well', () => {
  const signer = rsaSigner();
  const pem = signer.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  assert.equal(readPublicKey('k', pem).fingerprint, readPublicKey('k', pemOf(signer)).fingerprint);
});
