/**
 * Reads certificates of OpenPGP ("transferable public keys", RFC 9580 §10.1): which of their keys may sign messages now.
 *
 *     primary key ── revocation?
 *     user id ────── certification by the primary key: until when, and what for
 *     subkey ─────── binding by the primary key: the same, and the subkey's agreement; revocation?
 */
import { isMadeBy, type PgpKey, prefixed, readKey } from './keys.ts';
import { type Packet, readPackets, readSignature, type Signature, tags } from './packets.ts';
import { describeError } from '../../../core/model/errors.ts';

/** The keys that may sign now, and why the other keys may not. */
export interface Certificates {
  readonly keys: readonly PgpKey[];
  readonly problems: readonly string[];
}

/** The kinds of signatures in certificates. */
const kinds = {
  certifications: [0x10, 0x11, 0x12, 0x13],
  binding: 0x18,
  agreement: 0x19,
  direct: 0x1f,
  revocation: 0x20,
  ofSubkey: 0x28,
  ofCertification: 0x30,
};
const mayCertify = 0x01;
const maySign = 0x02;

/** How many signatures of the owners are verified in one text: the certificates of a dozen people have fewer. Each may take milliseconds, and whoever writes the text chooses how many there are. */
const maxVerified = 64;

/** The time at which keys are to be valid, in seconds since 1970, and how many signatures may still be verified. */
interface Evaluation {
  readonly now: number;
  readonly budget: { left: number };
}

/** The signatures that the key itself made of the data. Those that name another key, such as of the people who met the owner, are not verified. */
async function madeBy(
  key: PgpKey,
  signatures: readonly Signature[],
  data: readonly Buffer[],
  { budget }: Evaluation,
): Promise<Signature[]> {
  const made: Signature[] = [];
  for (const one of signatures) {
    if (one.issuer !== undefined && one.issuer !== key.id) continue;
    if (budget.left-- <= 0)
      throw new Error(`it has more than ${maxVerified} signatures by its own keys: leave out keys and names that are not needed`);
    if (await isMadeBy(key, one, data)) made.push(one);
  }
  return made;
}

/** A key, a user id or a subkey, with the signatures that follow it. */
interface Part {
  readonly packet: Packet;
  readonly signatures: Signature[];
}

/** A public key with all that belongs to it. */
interface Certificate {
  readonly primary: Part;
  readonly names: Part[];
  readonly subkeys: Part[];
}

/** The keys of all certificates that may sign now; `now` in ms since 1970. Rejects with an Error if the bytes are no certificates. */
export async function readCertificates(bytes: Buffer, now: number): Promise<Certificates> {
  const nowSeconds = Math.floor(now / 1_000);
  const found: Certificates[] = [];
  const budget = { left: maxVerified };
  for (const certificate of gather(readPackets(bytes))) found.push(await evaluate(certificate, { now: nowSeconds, budget }));
  return { keys: found.flatMap(({ keys }) => keys), problems: found.flatMap(({ problems }) => problems) };
}

function gather(packets: readonly Packet[]): Certificate[] {
  const certificates: Certificate[] = [];
  let part: Part | undefined;
  for (const packet of packets) {
    const certificate = certificates.at(-1);
    switch (packet.tag) {
      case tags.secretKey:
      case tags.secretSubkey:
        throw new Error('it holds a private key: use the public key (gpg --export --armor)');
      case tags.publicKey:
        part = { packet, signatures: [] };
        certificates.push({ primary: part, names: [], subkeys: [] });
        break;
      case tags.userId:
      case tags.userAttribute:
        part = { packet, signatures: [] };
        certificate?.names.push(part);
        break;
      case tags.publicSubkey:
        part = { packet, signatures: [] };
        certificate?.subkeys.push(part);
        break;
      case tags.signature:
        part?.signatures.push(...readSupported(packet.body));
        break;
      default:
        // Others, such as the trust that gpg has in a key, say nothing that is signed.
        break;
    }
  }
  if (certificates.length === 0) throw new Error('it holds no public key');
  return certificates;
}

/** Signatures of other versions are those of other people, or of keys that are not supported either. */
function readSupported(body: Buffer): Signature[] {
  try {
    return [readSignature(body)];
  } catch {
    return [];
  }
}

async function evaluate({ primary, names, subkeys }: Certificate, evaluation: Evaluation): Promise<Certificates> {
  const { now } = evaluation;
  let key: PgpKey;
  try {
    key = readKey(primary.packet.body);
  } catch (error) {
    return { keys: [], problems: [`a key cannot be used: ${describeError(error)}`] };
  }
  const own = latest(await certificationsOf(key, { primary, names }, evaluation), now);
  const problem = problemOf(key, primary.signatures, own, now);
  if (problem !== undefined) return { keys: [], problems: [`key ${key.id} ${problem}`] };
  const found: (PgpKey | string | undefined)[] = [];
  for (const subkey of subkeys) found.push(await evaluateSubkey(key, subkey, evaluation));
  const flags = own?.keyFlags ?? mayCertify | maySign;
  const signing = [...((flags & maySign) === 0 ? [] : [key]), ...found.filter((one) => typeof one === 'object')];
  const others = found.filter((one) => typeof one === 'string');
  return { keys: signing, problems: signing.length + others.length === 0 ? [`key ${key.id} may not sign`] : others };
}

/** Why a key with this certification or binding may not be used now. A revocation counts even if only somebody else could verify it. */
function problemOf(key: PgpKey, signatures: readonly Signature[], own: Signature | undefined, now: number): string | undefined {
  if (signatures.some(({ type }) => type === kinds.revocation || type === kinds.ofSubkey)) return 'is revoked';
  if (own === undefined) return 'has no valid signature of its owner that says what it may be used for';
  const { keyExpiresAfter = 0 } = own;
  const expiresAt = key.created + keyExpiresAfter;
  if (keyExpiresAfter !== 0 && expiresAt <= now) return `has expired on ${dayOf(expiresAt)}`;
  return key.created > now ? `was created in the future, on ${dayOf(key.created)}` : undefined;
}

function dayOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10);
}

/** What the owner has signed about the primary key, directly or with a name. A name that is revoked certifies nothing. */
async function certificationsOf(
  key: PgpKey,
  { primary, names }: Pick<Certificate, 'primary' | 'names'>,
  evaluation: Evaluation,
): Promise<Signature[]> {
  const data = [prefixed(key.body)];
  const direct = primary.signatures.filter((one) => one.type === kinds.direct);
  const found = await madeBy(key, direct, data, evaluation);
  for (const { packet, signatures } of names) {
    const wanted = signatures.filter(({ type }) => type === kinds.ofCertification || kinds.certifications.includes(type));
    const made = await madeBy(key, wanted, [...data, nameOf(packet)], evaluation);
    if (!made.some(({ type }) => type === kinds.ofCertification)) found.push(...made);
  }
  return found;
}

function nameOf({ tag, body }: Packet): Buffer {
  const head = Buffer.from([tag === tags.userId ? 0xb4 : 0xd1, 0, 0, 0, 0]);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** The latest of the signatures that are valid now: it replaces those before. */
function latest(signatures: readonly Signature[], now: number): Signature | undefined {
  return signatures.filter((one) => isCurrent(one, now)).toSorted((a, b) => (b.created ?? 0) - (a.created ?? 0))[0];
}

/** Whether a signature was made, and has not expired; times in seconds since 1970. */
export function isCurrent({ created, expiresAfter = 0 }: Signature, now: number): boolean {
  if (created === undefined || created > now) return false;
  return expiresAfter === 0 || created + expiresAfter > now;
}

/** A subkey that may sign; as a text, why it may not; undefined if it is for something else. */
async function evaluateSubkey(primary: PgpKey, { packet, signatures }: Part, evaluation: Evaluation): Promise<PgpKey | string | undefined> {
  const { now } = evaluation;
  let key: PgpKey;
  try {
    key = readKey(packet.body);
  } catch {
    // Most subkeys are for encryption, with other algorithms.
    return undefined;
  }
  const data = [prefixed(primary.body), prefixed(key.body)];
  const bindings = signatures.filter((one) => one.type === kinds.binding);
  const binding = latest(await madeBy(primary, bindings, data, evaluation), now);
  if (binding !== undefined && ((binding.keyFlags ?? 0) & maySign) === 0) return undefined;
  const problem = problemOf(key, signatures, binding, now);
  if (problem !== undefined) return `subkey ${key.id} ${problem}`;
  // Without it, anybody could call the key of somebody else his own.
  const [agreement] = binding?.embedded === undefined ? [] : readSupported(binding.embedded);
  const agrees = agreement?.type === kinds.agreement && isCurrent(agreement, now) && (await isMadeBy(key, agreement, data));
  return agrees ? key : `subkey ${key.id} has not signed that it belongs to key ${primary.id}`;
}
