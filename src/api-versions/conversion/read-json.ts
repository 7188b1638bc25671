/** JSON whose shape nobody has checked. */
export interface JsonObject {
  readonly [key: string]: unknown;
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text, or undefined when the value is none. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The whole number, or undefined when the value is none. */
export function wholeNumberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

/** A copy with that field; without it where the value is undefined. */
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

/** A copy with that field; without it where its value would be an empty object. */
export function withPart(object: JsonObject, key: string, value: JsonObject): JsonObject {
  return withField(object, key, Object.keys(value).length === 0 ? undefined : value);
}

/** Whether objects and arrays are nested at most so deep: deeper ones overflow the stack of whoever walks or writes them. */
export function isNestedWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  // A loop without closures: each object of a list is walked through.
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && !isNestedWithin(inner, depth - 1)) return false;
  }
  return true;
}

/** What JSON is made of, counted in its bytes without parsing it: parsing alone can make a hundred bytes of memory out of three. */
export interface JsonMeasure {
  /** Members of objects, elements of lists, and what holds them. */
  readonly values: number;
  readonly depth: number;
  /** Elements of the lists that are `listDepth` deep, or one more where such a list is empty. */
  readonly listed: number;
}

const quote = 0x22;
const comma = 0x2c;
const openList = 0x5b;
const escape = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** Measures bytes; of what is no JSON the numbers mean nothing. Without `listDepth` no list is counted. */
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

/** Where the text that begins at `start` has its closing quote. */
function endOfText(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === escape ? 2 : 1;
  return index;
}
