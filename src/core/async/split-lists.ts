/** Reads JSON with long lists, such as the vulnerabilities of an image, in pieces: parsing it at once would block the event loop for too long. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { endOfText, parseBoundedJson } from '../model/bounded-json.ts';

/** JSON whose long lists are not parsed: in `rest`, each of them is replaced by its index in `lists`, which are the bytes between the brackets. */
export interface SplitJson {
  readonly rest: unknown;
  readonly lists: readonly Buffer[];
}

/** An element of a list, in a path. */
export const element = '[]';
/** Any member of an object, in a path. */
export const anyMember = '*';

const bytesPerTurn = 1024 * 1024;
const maxDepth = 64;
/** How many bytes of a list are parsed in one turn. They hold far fewer values than `parseBoundedJson` allows, unless somebody has made them to be slow. */
const bytesPerPiece = 128 * 1024;
const [quote, comma, colon, openList, closeList, openObject, closeObject] = Buffer.from('",:[]{}');

/**
 * Splits off the lists at a path, such as `['items', element, 'report', 'vulnerabilities']`. Throws an Error if what remains is not JSON, or exceeds the limits
 * of `parseBoundedJson`. A member whose name is written with escapes is not found.
 */
export async function splitLists(json: Buffer, path: readonly string[]): Promise<SplitJson> {
  const lists: Buffer[] = [];
  const parts: Buffer[] = [];
  /** The names that lead to the current place, one for each open list or object. */
  const names: string[] = [];
  let name = '';
  let kept = 0;
  let inside: { readonly start: number; depth: number } | undefined;
  let turn = bytesPerTurn;
  for (let index = 0; index < json.length; index++) {
    if (index > turn) {
      await nextTurn();
      turn = index + bytesPerTurn;
    }
    const byte = json[index];
    if (byte === quote) {
      const end = endOfText(json, index);
      if (inside === undefined && names.length <= path.length) name = json.toString('utf8', index + 1, end);
      index = end;
    } else if (inside !== undefined) {
      if (byte === openList || byte === openObject) inside.depth++;
      else if ((byte === closeList || byte === closeObject) && inside.depth-- === 0) {
        parts.push(json.subarray(kept, inside.start), Buffer.from(String(lists.length)));
        lists.push(json.subarray(inside.start + 1, index));
        kept = index + 1;
        inside = undefined;
      }
    } else if (byte === colon) names[names.length - 1] = name;
    else if (byte === openList && isAt(names, path)) inside = { start: index, depth: 0 };
    else if (byte === openList || byte === openObject) {
      if (names.push(byte === openList ? element : '') > maxDepth) throw new Error(`the JSON is nested deeper than ${maxDepth} levels`);
    } else if (byte === closeList || byte === closeObject) names.pop();
  }
  if (inside !== undefined) throw new Error('the JSON ends within a list');
  return { rest: parseBoundedJson(Buffer.concat([...parts, json.subarray(kept)])), lists };
}

function isAt(names: readonly string[], path: readonly string[]): boolean {
  return names.length === path.length && path.every((part, index) => part === anyMember || part === names[index]);
}

/** The elements of a list, in pieces. Throws an Error for what is not JSON, or was made to be slow. */
export async function* readPieces(list: Buffer): AsyncGenerator<readonly unknown[]> {
  let from = 0;
  let depth = 0;
  for (let index = 0; index < list.length; index++) {
    const byte = list[index];
    if (byte === quote) index = endOfText(list, index);
    else if (byte === openList || byte === openObject) depth++;
    else if (byte === closeList || byte === closeObject) depth--;
    else if (byte === comma && depth === 0 && index - from >= bytesPerPiece) {
      yield parsePiece(list.subarray(from, index));
      await nextTurn();
      from = index + 1;
    }
  }
  yield parsePiece(list.subarray(from));
}

function parsePiece(bytes: Buffer): readonly unknown[] {
  return parseBoundedJson(Buffer.concat([Buffer.from('['), bytes, Buffer.from(']')])) as readonly unknown[];
}
