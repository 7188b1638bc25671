/** Verifies messages that are signed in clear text (RFC 9580 §7) with keys of OpenPGP. */
import { describeError } from '../../../core/model/errors.ts';
import { type ClearSigned, readClearSigned } from './armor.ts';
import { isCurrent } from './certificates.ts';
import { isMadeBy, type PgpKey } from './keys.ts';
import { readPackets, readSignature, type Signature, tags } from './packets.ts';

/** The text that was signed, with CRLF between its lines, and the key that signed it; or why it counts as not signed. */
export type VerifiedMessage = { readonly text: string; readonly key: PgpKey } | { readonly why: string };

/** The kind of signature that messages in clear text have: of a text, not of bytes. */
const ofText = 0x01;
/** More signatures than people who release together have. */
const maxSignatures = 4;

/** Verifies a message with these keys; one signature by one of them is enough. `now` in ms since 1970. Never rejects. */
export async function verifyMessage(bytes: Buffer, keys: readonly PgpKey[], now: number): Promise<VerifiedMessage> {
  let message: ClearSigned;
  let signatures: readonly Signature[];
  try {
    message = readClearSigned(bytes);
    signatures = readSignatures(message.signature);
  } catch (error) {
    return { why: describeError(error) };
  }
  const data = [Buffer.from(message.text)];
  for (const signature of signatures.filter((one) => one.type === ofText && isCurrent(one, Math.floor(now / 1_000)))) {
    for (const key of keys)
      if ((signature.created ?? 0) >= key.created && (await isMadeBy(key, signature, data))) return { text: message.text, key };
  }
  const issuers = [...new Set(signatures.map(({ issuer }) => issuer ?? 'unknown'))];
  return { why: `it was not signed by an accepted key, or was changed since (it names key ${issuers.join(', ')})` };
}

function readSignatures(bytes: Buffer): Signature[] {
  const packets = readPackets(bytes);
  if (packets.length === 0 || packets.length > maxSignatures || packets.some(({ tag }) => tag !== tags.signature))
    throw new Error('its signature is not made of one to four signatures');
  return packets.map(({ body }) => readSignature(body));
}
