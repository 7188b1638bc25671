/** Public keys of OpenPGP, version 4 (RFC 9580 §5.5), and the signatures that they make (§5.2). The cryptography is that of Node. */
import { createPublicKey, hash as hashOf, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { weaknessOf } from '../public-keys.ts';
import { readerOf, type Reader, type Signature } from './packets.ts';

/** A public key that can verify signatures. */
export interface PgpKey {
  /** The body of the packet of the key. */
  readonly body: Buffer;
  /** When the key was created, in seconds since 1970. */
  readonly created: number;
  readonly algorithm: number;
  /** The last 16 digits of its fingerprint, as `gpg --list-keys --keyid-format long` shows them. */
  readonly id: string;
  readonly key: KeyObject;
}

const algorithms = { rsa: 1, rsaSignOnly: 3, ecdsa: 19, eddsaLegacy: 22, ed25519: 27 } as const;
/** The curves of ECDSA by the bytes of their object identifiers. */
const curves: Readonly<Record<string, string>> = {
  '2a8648ce3d030107': 'P-256',
  '2b81040022': 'P-384',
  '2b81040023': 'P-521',
};
const ed25519Legacy = '2b06010401da470f01';
/** SHA-1 and MD5 prove nothing: others can make a second text with the same hash. */
const hashes: Readonly<Record<number, string>> = { 8: 'sha256', 9: 'sha384', 10: 'sha512' };

/** Reads the body of a packet with a public key or a subkey; throws an Error that says why it cannot verify signatures. */
export function readKey(body: Buffer): PgpKey {
  const reader = readerOf(body);
  const version = reader.number(1);
  if (version !== 4) throw new Error(`it has version ${version}, and only 4 is supported`);
  const created = reader.number(4);
  const algorithm = reader.number(1);
  const key = createPublicKey({ format: 'jwk', key: readMaterial(algorithm, reader) });
  const weakness = weaknessOf(key);
  if (weakness !== undefined) throw new Error(weakness);
  return { body, created, algorithm, id: hashOf('sha1', prefixed(body), 'hex').slice(-16).toUpperCase(), key };
}

const text = (bytes: Buffer) => bytes.toString('base64url');

function readMaterial(algorithm: number, reader: Reader): JsonWebKey {
  switch (algorithm) {
    case algorithms.rsa:
    case algorithms.rsaSignOnly:
      return { kty: 'RSA', n: text(reader.integer()), e: text(reader.integer()) };
    case algorithms.ecdsa: {
      const crv = curves[reader.take(reader.number(1)).toString('hex')] ?? 'unknown';
      const point = reader.integer();
      const size = (point.length - 1) / 2;
      if (point[0] !== 4) throw new Error('its point is compressed');
      return { kty: 'EC', crv, x: text(point.subarray(1, 1 + size)), y: text(point.subarray(1 + size)) };
    }
    case algorithms.eddsaLegacy: {
      const point = reader.take(reader.number(1)).toString('hex') === ed25519Legacy ? reader.integer() : Buffer.alloc(0);
      if (point.length !== 33 || point[0] !== 0x40) throw new Error('its curve is not supported');
      return { kty: 'OKP', crv: 'Ed25519', x: text(point.subarray(1)) };
    }
    case algorithms.ed25519:
      return { kty: 'OKP', crv: 'Ed25519', x: text(reader.take(32)) };
    default:
      throw new Error(`keys of algorithm ${algorithm} are not supported`);
  }
}

/** A key as signatures about it hash it. */
export function prefixed(body: Buffer): Buffer {
  const head = Buffer.from([0x99, 0, 0]);
  head.writeUInt16BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/**
 * Whether the key made this signature of the data. Weak hashes and signatures that are not fully understood count as not made. Never rejects. Each verification
 * gets a turn of the event loop, because it may take milliseconds.
 */
export async function isMadeBy({ key, algorithm }: PgpKey, signature: Signature, data: readonly Buffer[]): Promise<boolean> {
  const hash = hashes[signature.hash];
  if (hash === undefined || signature.isUnknown || signature.algorithm !== algorithm) return false;
  const trailer = Buffer.from([4, 0xff, 0, 0, 0, 0]);
  trailer.writeUInt32BE(signature.hashed.length, 2);
  const signed = Buffer.concat([...data, signature.hashed, trailer]);
  await nextTurn();
  try {
    return isValid({ key, algorithm }, readerOf(signature.value), { hash, signed });
  } catch {
    // A signature that is cut off, or that the library cannot read, is none.
    return false;
  }
}

function isValid(
  { key, algorithm }: Pick<PgpKey, 'key' | 'algorithm'>,
  value: Reader,
  { hash, signed }: { readonly hash: string; readonly signed: Buffer },
): boolean {
  switch (algorithm) {
    case algorithms.rsa:
    case algorithms.rsaSignOnly: {
      const size = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
      return verify(hash, signed, key, padded(value.integer(), size));
    }
    case algorithms.ecdsa: {
      const size = { prime256v1: 32, secp384r1: 48, secp521r1: 66 }[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 0;
      const pair = Buffer.concat([padded(value.integer(), size), padded(value.integer(), size)]);
      return verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, pair);
    }
    case algorithms.eddsaLegacy: {
      const pair = Buffer.concat([padded(value.integer(), 32), padded(value.integer(), 32)]);
      return verify(null, hashOf(hash, signed, 'buffer'), key, pair);
    }
    default:
      return verify(null, hashOf(hash, signed, 'buffer'), key, value.take(64));
  }
}

function padded(integer: Buffer, size: number): Buffer {
  if (integer.length > size) throw new Error('it is too long');
  return Buffer.concat([Buffer.alloc(size - integer.length), integer]);
}
