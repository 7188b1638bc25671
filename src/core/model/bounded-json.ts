/**
 * Parses untrusted JSON after measuring it. The time to parse depends on the number of values in a text, and is much longer where they are nested or their
 * names differ: a list that is nested a million levels deep blocks the process for a second.
 */

/** The maximum number of values: no manifest or configuration of an image has more. The costliest documents within these limits take some ten milliseconds. */
const usualValues = 16_384;
const maxDepth = 64;
/** The maximum size of JSON. Names take the longest: those of 4 MiB took up to 45 ms of one core. */
export const maxJsonBytes = 2 * 1024 * 1024;

/** The limits of a kind of document. */
export interface JsonLimits {
  readonly maxBytes: number;
  readonly maxValues: number;
}

const usualLimits: JsonLimits = { maxBytes: maxJsonBytes, maxValues: usualValues };

/** Parses JSON. Throws an Error for text that is not JSON, and for text that exceeds the limits. */
export function parseBoundedJson(json: string | Uint8Array, { maxBytes, maxValues } = usualLimits): unknown {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  if (bytes.length > maxBytes) throw new Error(`the JSON is larger than ${maxBytes} bytes`);
  const { values, depth } = measureJson(bytes);
  if (values > maxValues) throw new Error(`the JSON holds more than ${maxValues} values`);
  if (depth > maxDepth) throw new Error(`the JSON is nested deeper than ${maxDepth} levels`);
  return JSON.parse(typeof json === 'string' ? json : Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString('utf8'));
}

/** The size of JSON, counted without parsing it, because parsing can take a hundred bytes of memory for three bytes of text. */
export interface JsonMeasure {
  /** The number of members of objects and elements of lists, and of the objects and lists themselves. */
  readonly values: number;
  readonly depth: number;
  /** The number of elements of the lists at the depth `listDepth`. An empty list counts as one. */
  readonly listed: number;
}

const quote = 0x22;
const comma = 0x2c;
const openList = 0x5b;
const escape = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** Measures JSON. The result for any other text is meaningless. Without `listDepth`, no elements are counted. */
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
export function endOfText(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === escape ? 2 : 1;
  return index;
}
