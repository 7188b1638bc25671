import { createPublicKey, hash, verify, type KeyObject } from 'node:crypto';

/** A key that signatures are verified with. */
export interface PublicKey {
  /** Where it comes from, in words for a user. */
  readonly name: string;
  readonly key: KeyObject;
  /** SHA-256 of the key, as cosign writes it into bundles: base64. */
  readonly fingerprint: string;
}

const pem = /^\s*-----BEGIN (RSA )?PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END (RSA )?PUBLIC KEY-----\s*$/;
const curves = ['prime256v1', 'secp384r1', 'secp521r1'];
const minRsaBits = 2048;
const maxPemLength = 16_384;
/** cosign 2 signs with SHA-256 whatever the key is, cosign 3 with the hash that fits the curve. */
const hashes = ['sha256', 'sha384', 'sha512'];

/** Reads a PEM public key: ECDSA (P-256, P-384, P-521), RSA from 2048 bits, or Ed25519. Throws an Error that says what is wrong with it. */
export function readPublicKey(name: string, text: string): PublicKey {
  if (/PRIVATE KEY/.test(text)) throw new Error('it is a private key: write the public one (cosign.pub) there');
  if (text.length > maxPemLength || !pem.test(text)) throw new Error('it is not one public key in PEM form (-----BEGIN PUBLIC KEY-----)');
  const key = parse(text);
  const problem = weaknessOf(key);
  if (problem !== undefined) throw new Error(problem);
  return { name, key, fingerprint: hash('sha256', key.export({ type: 'spki', format: 'der' }), 'base64') };
}

/** Whether the key made the signature of these bytes. */
export function isSignedBy({ key }: PublicKey, bytes: Buffer, signature: Buffer): boolean {
  if (key.asymmetricKeyType === 'ed25519') return verify(null, bytes, key, signature);
  return hashes.some((algorithm) => verify(algorithm, bytes, key, signature));
}

function parse(text: string): KeyObject {
  try {
    return createPublicKey(text);
  } catch (error) {
    throw new Error('it cannot be read as a public key', { cause: error });
  }
}

function weaknessOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string | undefined {
  if (type === 'ed25519') return undefined;
  if (type === 'ec') return curves.includes(details.namedCurve ?? '') ? undefined : `its curve ${details.namedCurve} is not supported`;
  if (type !== 'rsa') return `keys of type ${type} are not supported`;
  return (details.modulusLength ?? 0) >= minRsaBits ? undefined : `it has ${details.modulusLength} bits, and RSA needs ${minRsaBits}`;
}
