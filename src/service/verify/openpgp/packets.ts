/** Reads packets of OpenPGP (RFC 9580 §4 and §5), as far as public keys and signatures of version 4 need it. Throws an Error for what is cut off or of another form. */

export interface Packet {
  readonly tag: number;
  readonly body: Buffer;
}

export const tags = { signature: 2, secretKey: 5, publicKey: 6, secretSubkey: 7, userId: 13, publicSubkey: 14, userAttribute: 17 } as const;

/** Keys with many signatures of others have hundreds of packets; exported with `--export-options export-minimal`, they have five to ten. */
const maxPackets = 512;

/** The packets one after the other. Lengths that are not known in advance are refused: keys and signatures never have them. */
export function readPackets(bytes: Buffer): Packet[] {
  const reader = readerOf(bytes);
  const packets: Packet[] = [];
  while (reader.left() > 0) {
    if (packets.length === maxPackets)
      throw new Error(`it has more than ${maxPackets} packets: export it without the signatures of others`);
    const first = reader.number(1);
    if ((first & 0x80) === 0) throw new Error('it is not made of packets of OpenPGP');
    const isNew = (first & 0x40) !== 0;
    const length = isNew ? readLength(reader) : reader.number(oldLength(first & 3));
    packets.push({ tag: isNew ? first & 0x3f : (first & 0x3c) >> 2, body: reader.take(length) });
  }
  return packets;
}

function oldLength(type: number): number {
  if (type === 3) throw new Error('a packet has no length');
  return 2 ** type;
}

function readLength(reader: Reader): number {
  const first = reader.number(1);
  if (first < 192) return first;
  if (first < 224) return ((first - 192) << 8) + reader.number(1) + 192;
  if (first === 255) return reader.number(4);
  throw new Error('a packet is in parts');
}

/** Reads numbers and bytes from the front. */
export interface Reader {
  left(): number;
  take(length: number): Buffer;
  /** A big-endian number of so many bytes, at most 4. */
  number(length: number): number;
  /** A multiprecision integer without leading zeros. */
  integer(): Buffer;
}

export function readerOf(bytes: Buffer): Reader {
  let at = 0;
  const take = (length: number) => {
    if (length > bytes.length - at) throw new Error('a packet is cut off');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const number = (length: number) => take(length).readUIntBE(0, length);
  return {
    left: () => bytes.length - at,
    take,
    number,
    integer: () => take(Math.ceil(number(2) / 8)),
  };
}

/** A subpacket of a signature. */
interface Subpacket {
  readonly type: number;
  readonly isCritical: boolean;
  readonly body: Buffer;
}

/** A signature of version 4. */
export interface Signature {
  readonly type: number;
  readonly algorithm: number;
  readonly hash: number;
  /** What is signed besides the data: everything from the version to the end of the hashed subpackets. */
  readonly hashed: Buffer;
  /** When the signature was made, in seconds since 1970; undefined if it does not say. */
  readonly created?: number | undefined;
  /** How long it, or the key that it certifies, is valid: seconds from its creation; undefined or 0 for ever. */
  readonly expiresAfter?: number | undefined;
  readonly keyExpiresAfter?: number | undefined;
  /** What the certified key may be used for; undefined if it does not say. */
  readonly keyFlags?: number | undefined;
  /** The packet body of the signature with which a subkey agrees to belong to its key. */
  readonly embedded?: Buffer | undefined;
  /** The end of the fingerprint of the signing key, in hex, for messages: nobody has to write the truth there. */
  readonly issuer?: string | undefined;
  /** Whether it has a part that must be understood, and is not. */
  readonly isUnknown: boolean;
  /** The signature itself, in the form of its algorithm. */
  readonly value: Buffer;
}

const subpackets = { created: 2, expires: 3, keyExpires: 9, issuer: 16, keyFlags: 27, embedded: 32, issuerFingerprint: 33 } as const;
/** The types of subpackets that may be critical. Types 7 and 25 restrict nothing that is done here. */
const known: ReadonlySet<number> = new Set([...Object.values(subpackets), 7, 25]);

/** Reads the body of a packet with a signature. */
export function readSignature(body: Buffer): Signature {
  const reader = readerOf(body);
  const version = reader.number(1);
  if (version !== 4) throw new Error(`a signature has version ${version}, and only 4 is supported`);
  const [type, algorithm, hash] = [reader.number(1), reader.number(1), reader.number(1)];
  const length = reader.number(2);
  const own = readSubpackets(reader.take(length));
  const unhashed = readSubpackets(reader.take(reader.number(2)));
  reader.take(2);
  const hashedOf = (wanted: number) => own.findLast((one) => one.type === wanted)?.body;
  const numberOf = (wanted: number) => {
    const found = hashedOf(wanted);
    return found?.length === 4 ? found.readUInt32BE() : undefined;
  };
  // A subpacket of these types needs no hash: it proves itself, or proves nothing.
  const anyOf = (wanted: number) => hashedOf(wanted) ?? unhashed.find((one) => one.type === wanted)?.body;
  return {
    type,
    algorithm,
    hash,
    hashed: body.subarray(0, 6 + length),
    created: numberOf(subpackets.created),
    expiresAfter: numberOf(subpackets.expires),
    keyExpiresAfter: numberOf(subpackets.keyExpires),
    keyFlags: hashedOf(subpackets.keyFlags)?.[0],
    embedded: anyOf(subpackets.embedded),
    issuer: (anyOf(subpackets.issuerFingerprint) ?? anyOf(subpackets.issuer))?.subarray(-8).toString('hex').toUpperCase(),
    isUnknown: own.some((one) => one.isCritical && !known.has(one.type)),
    value: reader.take(reader.left()),
  };
}

function readSubpackets(bytes: Buffer): Subpacket[] {
  const reader = readerOf(bytes);
  const found: Subpacket[] = [];
  while (reader.left() > 0) {
    const first = reader.number(1);
    const length = first < 192 ? first : first < 255 ? ((first - 192) << 8) + reader.number(1) + 192 : reader.number(4);
    const [type = 0, ...rest] = reader.take(length);
    found.push({ type: type & 0x7f, isCritical: (type & 0x80) !== 0, body: Buffer.from(rest) });
  }
  return found;
}
