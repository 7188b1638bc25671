import type { z } from 'zod';
import { MalformedBody, OversizedDelivery } from './provider.ts';

/** Deeper JSON than this is nobody's webhook. */
const maxDepth = 32;
/** More values than this are no webhook either: a thousand entries of sixty-five values, or a megabyte of sixteen bytes each. */
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

/** Refuses what would take long to parse and to read, by one walk over its characters. */
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
