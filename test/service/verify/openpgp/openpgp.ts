/** Makes keys and signatures of OpenPGP, good and bad ones (RFC 9580 §5). GnuPG and Helm make others: test/fixtures/openpgp, test/end-to-end/chart-provenance.test.ts. */
import { createHash, generateKeyPairSync, type JsonWebKey, type KeyObject, sign as signBytes } from 'node:crypto';

export interface PgpSigner {
  /** The body of the packet with the public key. */
  readonly body: Buffer;
  /** The end of the fingerprint, as messages show it. */
  readonly id: string;
  readonly algorithm: 1 | 22;
  readonly privateKey: KeyObject;
  readonly created: number;
}

export const seconds = (time: string) => Math.floor(Date.parse(time) / 1_000);
const longAgo = seconds('2026-01-01T00:00:00Z');
const userId = Buffer.from('Releaser <releaser@shop.example>');

const numberOf = (length: number, value: number) => {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, 0, length);
  return bytes;
};
const integer = (bytes: Buffer) => {
  const from = bytes.findIndex((byte) => byte !== 0);
  const rest = bytes.subarray(from < 0 ? bytes.length : from);
  return Buffer.concat([numberOf(2, rest.length === 0 ? 0 : rest.length * 8 - Math.clz32(rest[0] ?? 0) + 24), rest]);
};
const partOf = (jwk: JsonWebKey, name: keyof JsonWebKey) => Buffer.from(String(jwk[name]), 'base64url');

/** A packet in the new form, with a length of four bytes. */
export const packet = (tag: number, body: Buffer) => Buffer.concat([Buffer.from([0xc0 | tag, 255]), numberOf(4, body.length), body]);
/** A subpacket of a signature; from 128 on, `type` is critical. */
export const subpacket = (type: number, body: Buffer) => Buffer.concat([Buffer.from([body.length + 1, type]), body]);
const prefixed = (body: Buffer) => Buffer.concat([Buffer.from([0x99]), numberOf(2, body.length), body]);

export function pgpSigner({
  type = 'ed25519',
  created = longAgo,
  bits = 2048,
}: { type?: 'ed25519' | 'rsa'; created?: number; bits?: number } = {}): PgpSigner {
  const { privateKey, publicKey } = type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: bits }) : generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' });
  const material =
    type === 'rsa'
      ? Buffer.concat([integer(partOf(jwk, 'n')), integer(partOf(jwk, 'e'))])
      : Buffer.concat([Buffer.from('092b06010401da470f01', 'hex'), integer(Buffer.concat([Buffer.from([0x40]), partOf(jwk, 'x')]))]);
  const algorithm = type === 'rsa' ? 1 : 22;
  const body = Buffer.concat([Buffer.from([4]), numberOf(4, created), Buffer.from([algorithm]), material]);
  const id = createHash('sha1').update(prefixed(body)).digest('hex').slice(-16).toUpperCase();
  return { body, id, algorithm, privateKey, created };
}

export interface SignatureOptions {
  readonly type: number;
  readonly created?: number;
  /** The numbers of hashes: 8 is SHA-256, 2 is SHA-1. */
  readonly hash?: number;
  readonly subpackets?: readonly Buffer[];
}

const hashNames: Readonly<Record<number, string>> = { 2: 'sha1', 8: 'sha256', 10: 'sha512' };

/** The body of a signature of the data. */
export function signatureOf({ privateKey, algorithm, id }: PgpSigner, data: Buffer, options: SignatureOptions): Buffer {
  const { type, created = longAgo + 1, hash = 10, subpackets = [] } = options;
  const own = Buffer.concat([subpacket(2, numberOf(4, created)), subpacket(16, Buffer.from(id, 'hex')), ...subpackets]);
  const hashed = Buffer.concat([Buffer.from([4, type, algorithm, hash]), numberOf(2, own.length), own]);
  const signed = Buffer.concat([data, hashed, Buffer.from([4, 0xff]), numberOf(4, hashed.length)]);
  const name = hashNames[hash] ?? '';
  const digest = createHash(name).update(signed).digest();
  const edwards = () => {
    const pair = signBytes(null, digest, privateKey);
    return Buffer.concat([integer(pair.subarray(0, 32)), integer(pair.subarray(32))]);
  };
  const value = algorithm === 1 ? integer(signBytes(name, signed, privateKey)) : edwards();
  return Buffer.concat([hashed, numberOf(2, 0), digest.subarray(0, 2), value]);
}

export interface CertificateOptions extends Partial<SignatureOptions> {
  /** What the key may be used for: 1 certify, 2 sign. */
  readonly flags?: number;
  /** When it expires, in seconds from its creation. */
  readonly expiresAfter?: number;
  /** Packets after the name and its signature. */
  readonly more?: readonly Buffer[];
}

const nameData = ({ body }: PgpSigner) => Buffer.concat([prefixed(body), Buffer.from([0xb4]), numberOf(4, userId.length), userId]);

function certificationOf(signer: PgpSigner, { flags = 3, expiresAfter, subpackets = [], ...options }: CertificateOptions): Buffer {
  const own = [subpacket(27, Buffer.from([flags])), ...(expiresAfter === undefined ? [] : [subpacket(9, numberOf(4, expiresAfter))])];
  return packet(2, signatureOf(signer, nameData(signer), { type: 0x13, ...options, subpackets: [...own, ...subpackets] }));
}

/** The certificate of a signer, in ASCII form. */
export function certificateOf(signer: PgpSigner, options: CertificateOptions = {}): string {
  const { more = [], ...rest } = options;
  const packets = [packet(6, signer.body), packet(13, userId), certificationOf(signer, rest), ...more];
  return armored('PUBLIC KEY BLOCK', Buffer.concat(packets));
}

/** A subkey that belongs to a signer, as packets behind its certificate. `agreement`: of another than the subkey itself. */
export function subkeyOf(
  signer: PgpSigner,
  subkey: PgpSigner,
  { flags = 2, agreement = subkey, more = [] }: { flags?: number; agreement?: PgpSigner | undefined; more?: readonly Buffer[] } = {},
): Buffer[] {
  const data = Buffer.concat([prefixed(signer.body), prefixed(subkey.body)]);
  const embedded = subpacket(32, signatureOf(agreement, data, { type: 0x19 }));
  const subpackets = [subpacket(27, Buffer.from([flags])), ...(embedded.length < 192 ? [embedded] : [])];
  return [packet(14, subkey.body), packet(2, signatureOf(signer, data, { type: 0x18, subpackets })), ...more];
}

/** The revocation of a key by itself, as a packet; it belongs directly behind the key. */
export const revocationOf = (signer: PgpSigner) => packet(2, signatureOf(signer, prefixed(signer.body), { type: 0x20 }));

/** A key ring with the private key, as Helm reads it. */
export function keyringOf(signer: PgpSigner): Buffer {
  const jwk = signer.privateKey.export({ format: 'jwk' });
  // OpenPGP has p < q, and the inverse of p; a JWK has the inverse of q.
  const secrets =
    signer.algorithm === 1 ? ([partOf(jwk, 'd'), partOf(jwk, 'q'), partOf(jwk, 'p'), partOf(jwk, 'qi')] as const) : [partOf(jwk, 'd')];
  const secret = Buffer.concat(secrets.map(integer));
  const sum = secret.reduce((total, byte) => (total + byte) & 0xffff, 0);
  const body = Buffer.concat([signer.body, Buffer.from([0]), secret, numberOf(2, sum)]);
  return Buffer.concat([packet(5, body), packet(13, userId), certificationOf(signer, {})]);
}

/** A message that is signed in clear text by these. */
export function clearSigned(text: string, signers: readonly PgpSigner[], options: Partial<SignatureOptions> = {}): string {
  const data = Buffer.from(text.replaceAll(/[ \t]+$/gm, '').replaceAll('\n', '\r\n'));
  const packets = signers.map((signer) => packet(2, signatureOf(signer, data, { type: 1, ...options })));
  const escaped = text.replaceAll(/^-/gm, '- -');
  return `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${escaped}\n${armored('SIGNATURE', Buffer.concat(packets))}`;
}

function armored(type: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN PGP ${type}-----`, '', ...lines, `-----END PGP ${type}-----`, ''].join('\n');
}
