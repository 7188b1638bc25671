import type { z } from 'zod';
import { MalformedBody } from './provider.ts';

/** Deeper JSON than this is nobody's webhook. */
const maxDepth = 32;
const decoder = new TextDecoder();
const [quote, backslash, brace, closingBrace, bracket, closingBracket] = Buffer.from('"\\{}[]');

/** Parses a body as JSON and against a schema that names only the fields needed; throws MalformedBody with what is wrong. */
export function parseJsonBody<T extends z.ZodType>(schema: T, body: Buffer): z.output<T> {
  const parsed = schema.safeParse(readJson(body));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new MalformedBody(`${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'wrong shape'}`);
}

function readJson(body: Buffer): unknown {
  if (body.length === 0) throw new MalformedBody('the body is empty');
  const text = decoder.decode(body);
  if (isTooDeep(text)) throw new MalformedBody(`the JSON is nested deeper than ${maxDepth} levels`);
  try {
    // Escapes can spell the name too.
    return /toString|\\u/.test(text) ? JSON.parse(text, withoutToString) : JSON.parse(text);
  } catch {
    throw new MalformedBody('the body is not JSON');
  }
}

/** zod compares the `length` of whatever it is given with a number, which throws for an object with a field of this name. */
function withoutToString(key: string, value: unknown): unknown {
  return key === 'toString' ? undefined : value;
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (inString) {
      if (character === backslash) index++;
      else if (character === quote) inString = false;
    } else if (character === quote) inString = true;
    else if (character === brace || character === bracket) {
      if (++depth > maxDepth) return true;
    } else if (character === closingBrace || character === closingBracket) depth--;
  }
  return false;
}
