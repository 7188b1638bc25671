import { headerOf } from './header-of.ts';
import type { Delivery } from './provider.ts';

const field = Buffer.from('payload=');
const [ampersand = 0, percent = 0, plus = 0, space = 0] = Buffer.from('&%+ ');
/** The value of a hex digit by its byte; -1 for any other byte. */
const hexValues = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = String.fromCharCode(byte);
  return /[0-9a-f]/i.test(digit) ? Number.parseInt(digit, 16) : -1;
});

/**
 * The field `payload` of a form, where senders put the JSON when they are told to send forms; undefined when the body is no form, or one with any other field.
 * Strangers can have this called: one walk over the bytes, and no string is made of them.
 */
export function formPayload(delivery: Delivery): Buffer | undefined {
  const contentType = headerOf(delivery, 'content-type')?.trim().toLowerCase() ?? '';
  if (!contentType.startsWith('application/x-www-form-urlencoded')) return undefined;
  const { body } = delivery;
  if (!body.subarray(0, field.length).equals(field) || body.includes(ampersand)) return undefined;
  return decodeForm(body.subarray(field.length));
}

function decodeForm(encoded: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(encoded.length);
  let length = 0;
  for (let index = 0; index < encoded.length; index++) {
    const byte = encoded[index] ?? 0;
    const value = byte === percent ? hexPair(encoded, index + 1) : -1;
    decoded[length++] = value >= 0 ? value : byte === plus ? space : byte;
    if (value >= 0) index += 2;
  }
  return decoded.subarray(0, length);
}

/** The byte that two hex digits spell; negative when they are none. */
function hexPair(bytes: Buffer, index: number): number {
  const high = hexValues[bytes[index] ?? 0] ?? -1;
  const low = hexValues[bytes[index + 1] ?? 0] ?? -1;
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}
