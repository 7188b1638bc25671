/** Reads payloads within the limits of a delivery: JSON and forms, lists, short texts and times. */
import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { headerOf } from './headers.ts';
import { type Delivery, MalformedBody, OversizedDelivery, type ParsedDelivery } from './provider.ts';

/** The limit for the nesting of JSON. No sender nests it deeper. */
const maxDepth = 32;
/** The limit for the values of a delivery: a thousand entries of sixty-five values, or a megabyte of sixteen bytes each. No sender needs more. */
const maxValues = 65_536;
const decoder = new TextDecoder();
const [quote, backslash, comma, brace, closingBrace, bracket, closingBracket] = Buffer.from('"\\,{}[]');

/** Parses a body as JSON and against a schema that names only the fields needed; throws MalformedBody with what is wrong, or OversizedDelivery. */
export function parseJsonBody<T extends z.ZodType>(schema: T, body: Buffer): z.output<T> {
  return readShape(schema, readJson(body));
}

/** Parses a value against a schema; throws MalformedBody with what is wrong. */
export function readShape<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new MalformedBody(`${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'wrong shape'}`);
}

function readJson(body: Buffer): unknown {
  if (body.length === 0) throw new MalformedBody('the body is empty');
  const text = decoder.decode(body);
  limitShape(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedBody('the body is not JSON');
  }
}

/** Refuses JSON that would take long to parse and to read, in one pass over its characters. */
function limitShape(text: string): void {
  let depth = 0;
  let values = 1;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (inString) {
      if (character === backslash) index++;
      else if (character === quote) inString = false;
    } else if (character === quote) inString = true;
    else if (character === comma) values++;
    else if (character === brace || character === bracket) {
      values++;
      if (++depth > maxDepth) throw new MalformedBody(`the JSON is nested deeper than ${maxDepth} levels`);
    } else if (character === closingBrace || character === closingBracket) depth--;
  }
  if (values > maxValues) throw new OversizedDelivery(`the JSON holds more than ${maxValues} values`);
}

/** The limit for the entries of a delivery. The rate limit counts it as one request, so a single one must neither block the process nor fill Redis. */
const maxEntries = 1_000;

/** Throws OversizedDelivery when a delivery, or a list of it, has more entries than are read, whether or not they are pushes. */
export function limitEntries(count: number): void {
  if (count > maxEntries) throw new OversizedDelivery(`${count} entries in one delivery; the limit is ${maxEntries}`);
}

/** The value if it is a list, otherwise undefined. Throws OversizedDelivery before any entry is read. */
export function readEntries(value: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  limitEntries(value.length);
  return value;
}

/** `readEntries` as a field of a schema. zod's own arrays would visit every entry before they compare the length. */
export const entries = z.unknown().optional().transform(readEntries);

/** A text of limited length. zod's own limits read the `length` of any value, and throw if the `length` is an object. */
export function limitedText(maxLength: number, minLength = 0) {
  return z.string().refine((text) => text.length >= minLength && text.length <= maxLength, `longer than ${maxLength} characters, or empty`);
}

/** A copy of texts without those that are empty or missing: what a sender does not say is absent. */
export function filled<K extends string>(texts: Readonly<Record<K, string | null | undefined>>): { [N in K]?: string } {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text)) as { [N in K]?: string };
}

/** A short text, or undefined if the field holds anything else. One unexpected field must not hide a push. */
export const optionalText = limitedText(1024).nullish().catch(undefined);

const field = Buffer.from('payload=');
const [ampersand = 0, percent = 0, plus = 0, space = 0] = Buffer.from('&%+ ');
/** The value of a hex digit by its byte; -1 for any other byte. */
const hexValues = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = String.fromCharCode(byte);
  return /[0-9a-f]/i.test(digit) ? Number.parseInt(digit, 16) : -1;
});

/**
 * The field `payload` of a form, which holds the JSON if the sender is configured to send forms; undefined if the body is no form, or has any other field.
 * Unauthenticated clients reach this code, so it makes one pass over the bytes and no string of them.
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

/** The byte that two hex digits stand for; negative if they are not hex digits. */
function hexPair(bytes: Buffer, index: number): number {
  const high = hexValues[bytes[index] ?? 0] ?? -1;
  const low = hexValues[bytes[index + 1] ?? 0] ?? -1;
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/** Converts seconds since 1970 (with fractions) to RFC 3339; undefined for anything else. */
export function fromUnixSeconds(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || !(Math.abs(seconds) <= 8_640_000_000_000)) return undefined;
  return new Date(seconds * 1_000).toISOString();
}

/** Reads each event of a delivery. An event that is undefined has an unexpected structure. */
export function parseEvents<T>(events: readonly (T | undefined)[], read: (event: T) => ClaimedPush | IgnoredPush): ParsedDelivery {
  return toParsedDelivery(
    events.map((event) => (event === undefined ? { code: 'Incomplete', reason: 'the event has an unexpected structure' } : read(event))),
  );
}

/** Sorts the parts of a delivery into pushes and ignored ones. */
export function toParsedDelivery(results: readonly (ClaimedPush | IgnoredPush)[]): ParsedDelivery {
  const pushes: ClaimedPush[] = [];
  const ignored: IgnoredPush[] = [];
  for (const result of results) {
    if ('reason' in result) ignored.push(result);
    else pushes.push(result);
  }
  return { pushes, ignored };
}
