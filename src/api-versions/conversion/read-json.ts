/** JSON of unknown shape, read without trusting it. */
import type { JsonObject } from '../../model/untyped.ts';

/** The text; undefined for another value. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The whole number; undefined for another value. */
export function wholeNumberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

/** A copy with the field; without it if the value is undefined. */
export function withField(object: JsonObject, key: string, value: unknown): JsonObject {
  if (value !== undefined) return { ...object, [key]: value };
  if (!Object.hasOwn(object, key)) return object;
  const { [key]: _, ...rest } = object;
  return rest;
}

/** The fields that have a value. */
export function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A copy with the field; without it if the value is an empty object. */
export function withPart(object: JsonObject, key: string, value: JsonObject): JsonObject {
  return withField(object, key, Object.keys(value).length === 0 ? undefined : value);
}

/** Whether objects and arrays are nested at most to this depth: deeper ones overflow the stack when they are walked or written. */
export function isNestedWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  // A loop without closures, because each object of a list is walked.
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && !isNestedWithin(inner, depth - 1)) return false;
  }
  return true;
}

/** The size of JSON, counted without parsing it: parsing can take a hundred bytes of memory for three bytes of text. */
export interface JsonMeasure {
  /** The number of members of objects and elements of lists, and of the objects and lists themselves. */
  readonly values: number;
  readonly depth: number;
  /** The number of elements of the lists at the depth `listDepth`; an empty one counts as one. */
  readonly listed: number;
}

const quote = 0x22;
const comma = 0x2c;
const openList = 0x5b;
const escape = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** Measures JSON; the result for anything else is meaningless. Without `listDepth`, no elements are counted. */
export function measureJson(bytes: Uint8Array, listDepth = 0): JsonMeasure {
  let values = 0;
  let depth = 0;
  let deepest = 0;
  let listed = 0;
  let isInList = false;
  for (let index = 0; index < bytes.length; index++) {
    switch (bytes[index]) {
      case quote:
        index = endOfText(bytes, index);
        break;
      case comma:
        values++;
        if (depth === listDepth && isInList) listed++;
        break;
      case openList:
      case openObject:
        values++;
        if (++depth > deepest) deepest = depth;
        if (depth !== listDepth) break;
        isInList = bytes[index] === openList;
        if (isInList) listed++;
        break;
      case closeList:
      case closeObject:
        depth--;
        break;
      default:
    }
  }
  return { values, depth: deepest, listed };
}

/** The position of the closing quote of the string that begins at `start`. */
function endOfText(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === escape ? 2 : 1;
  return index;
}
