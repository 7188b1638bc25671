/** Reads the public keys of a policy from Secrets of its namespace. */
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { describeError } from '../../core/model/errors.ts';
import { readKey, type SecretContent, type SecretRef } from '../../core/model/image-source.ts';
import type { KeyRef } from '../../core/model/verification.ts';

/** A public key that verifies signatures. */
export interface PublicKey {
  /** The origin of the key, worded for users: `Secret shop/cosign, key cosign.pub`. */
  readonly name: string;
  readonly key: KeyObject;
  /** SHA-256 of the key in base64, as cosign writes it into bundles. */
  readonly fingerprint: string;
}

const pem = /^\s*-----BEGIN (RSA )?PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END (RSA )?PUBLIC KEY-----\s*$/;
const curves = ['prime256v1', 'secp384r1', 'secp521r1'];
const minRsaBits = 2048;
/** Larger keys, and larger exponents, make each verification take tens of milliseconds. Go's libraries, and so cosign, have the same maximum exponent. */
const maxRsaBits = 8192;
const maxRsaExponent = 2n ** 31n - 1n;
const maxPemLength = 16_384;
/** The hashes of signatures: cosign 2 uses SHA-256 with every key, cosign 3 the hash that fits the size of the curve. */
const hashes = ['sha256', 'sha384', 'sha512'];

/** Reads a PEM public key: ECDSA (P-256, P-384, P-521), RSA from 2048 bits, or Ed25519. Throws an Error that says what is wrong with it. */
export function readPublicKey(name: string, text: string): PublicKey {
  if (/PRIVATE KEY/.test(text)) throw new Error('it is a private key: use the public key (cosign.pub) instead');
  if (text.length > maxPemLength || !pem.test(text)) throw new Error('it is not one public key in PEM form (-----BEGIN PUBLIC KEY-----)');
  const key = parse(text);
  const problem = weaknessOf(key);
  if (problem !== undefined) throw new Error(problem);
  return { name, key, fingerprint: hash('sha256', key.export({ type: 'spki', format: 'der' }), 'base64') };
}

/** Whether the key made the signature of these bytes. Verified outside the event loop, because a large key, or the hash of an attestation, takes tens of milliseconds. */
export async function isSignedBy({ key }: PublicKey, bytes: Buffer, signature: Buffer): Promise<boolean> {
  for (const algorithm of key.asymmetricKeyType === 'ed25519' ? [null] : hashes) {
    if (await verifyOutside(algorithm, bytes, key, signature)) return true;
  }
  return false;
}

const verifyOutside = promisify<string | null, Buffer, KeyObject, Buffer, boolean>(verify);

/** Finds the key that made the signature of these bytes. */
export async function findSigningKey(keys: readonly PublicKey[], bytes: Buffer, signature: Buffer): Promise<PublicKey | undefined> {
  for (const key of keys) {
    if (await isSignedBy(key, bytes, signature)) return key;
  }
  return undefined;
}

function parse(text: string): KeyObject {
  try {
    return createPublicKey(text);
  } catch (error) {
    throw new Error('it cannot be read as a public key', { cause: error });
  }
}

/** Why a public key is too weak, too costly or of a kind that is not supported; undefined if it may be used. */
export function weaknessOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string | undefined {
  if (type === 'ed25519') return undefined;
  if (type === 'ec') return curves.includes(details.namedCurve ?? '') ? undefined : `its curve ${details.namedCurve} is not supported`;
  if (type !== 'rsa') return `keys of type ${type} are not supported`;
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = details;
  if (bits < minRsaBits) return `it has ${bits} bits, and RSA needs ${minRsaBits}`;
  if (bits > maxRsaBits) return `it has ${bits} bits, and RSA keys may have up to ${maxRsaBits}`;
  return exponent > maxRsaExponent ? `its exponent is larger than ${maxRsaExponent}` : undefined;
}

/** Reads one Secret; rejects if the API server does not answer. */
export type ReadSecret = (secret: SecretRef, signal: AbortSignal) => Promise<SecretContent>;

/** The usable keys, and the problems of the unusable ones. */
export interface Keys<Key = PublicKey> {
  readonly usable: readonly Key[];
  readonly problems: readonly string[];
}

/** The keys to read, in the Secrets of a namespace. `read`: all keys of a text, under a name that is worded for users; it rejects with an Error that says what is wrong. */
export interface WantedKeys<Key> {
  readonly refs: readonly KeyRef[];
  readonly namespace: string;
  readonly read: (name: string, text: string) => Promise<Keys<Key>>;
}

/** Reads the public keys of cosign of a policy, each in PEM form. */
export function readPemKeys(refs: readonly KeyRef[], namespace: string): WantedKeys<PublicKey> {
  return { refs, namespace, read: async (name, text) => ({ usable: [readPublicKey(name, text)], problems: [] }) };
}

/** Reads keys of a policy from its own namespace. An unusable key does not affect the others. */
export async function readKeys<Key>(
  { refs, namespace, read }: WantedKeys<Key>,
  readSecret: ReadSecret,
  signal: AbortSignal,
): Promise<Keys<Key>> {
  const names = [...new Set(refs.map(({ secret }) => secret))];
  const readOne = async (name: string) => [name, await readSecret({ namespace, name }, signal)] as const;
  const secrets = new Map(await Promise.all(names.map(readOne)));
  const keys: Keys<Key>[] = [];
  for (const { secret, key } of refs) {
    const found = readKey(secrets.get(secret) ?? { why: 'was not read' }, key);
    keys.push(
      'why' in found
        ? { usable: [], problems: [`Secret ${namespace}/${secret} ${found.why}`] }
        : await readOrExplain(`key ${key} of Secret ${namespace}/${secret}`, found.text, read),
    );
  }
  return { usable: keys.flatMap(({ usable }) => usable), problems: keys.flatMap(({ problems }) => problems) };
}

async function readOrExplain<Key>(name: string, text: string, read: WantedKeys<Key>['read']): Promise<Keys<Key>> {
  try {
    return await read(name, text);
  } catch (error) {
    return { usable: [], problems: [`${name} cannot be used: ${describeError(error)}`] };
  }
}
