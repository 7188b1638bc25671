/** Reads a page of a tag list in pieces, because a registry chooses how long its answer is, and what else it contains. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { endOfText } from '../../core/model/bounded-json.ts';

/** How many tags are parsed in one turn of the event loop, which takes some milliseconds; `bytesPerTurn` limits their bytes. */
export const tagsPerTurn = 5_000;
const bytesPerTurn = 1024 * 1024;
const [quote, comma, colon, openList, closeList, openObject, closeObject] = Buffer.from('",:[]{}');

/**
 * The entries of `tags`, in pieces. Nothing else of the page is parsed, because some registries describe each manifest beside the tags. Throws an Error for
 * anything but a tag list.
 */
export async function* readTagPage(body: Buffer): AsyncGenerator<readonly unknown[]> {
  const list = await findTags(body);
  let from = 0;
  let count = 0;
  for (let index = 0; index < list.length; index++) {
    const byte = list[index];
    if (byte === quote) index = endOfText(list, index);
    else if (byte === openList || byte === openObject) throw new Error('the answer is not a tag list');
    else if (byte === comma && ++count === tagsPerTurn) {
      yield parseEntries(list.subarray(from, index));
      await nextTurn();
      from = index + 1;
      count = 0;
    }
  }
  yield parseEntries(list.subarray(from));
}

/** The bytes between the brackets of the list; empty for a repository with a name alone, and for `null`, which older registries write for an empty one. */
async function findTags(body: Buffer): Promise<Buffer> {
  const document = trim(body);
  const isObject = document[0] === openObject && document.at(-1) === closeObject;
  // The answer is the page of a proxy, or incomplete.
  if (!isObject && document.toString('latin1', 0, 4) !== 'null') throw new Error('the answer is not valid JSON');
  const members = await findMembers(document);
  const value = members.get('tags');
  if (value === undefined && !members.has('name')) throw new Error('the answer is not a tag list');
  const text = value ?? Buffer.from('null');
  if (text.length === 4 && text.toString() === 'null') return Buffer.alloc(0);
  if (text[0] !== openList || text.at(-1) !== closeList) throw new Error('the answer is not a tag list');
  return text.subarray(1, -1);
}

/** The members `name` and `tags` of an object, unparsed. */
async function findMembers(body: Buffer): Promise<Map<string, Buffer>> {
  const members = new Map<string, Buffer>();
  let depth = 0;
  let text = '';
  let key: string | undefined;
  let from = 0;
  let turn = bytesPerTurn;
  const end = (index: number) => {
    if (key === 'name' || key === 'tags') {
      if (members.has(key)) throw new Error('the answer is not a tag list');
      members.set(key, trim(body.subarray(from, index)));
    }
    key = undefined;
  };
  for (let index = 0; index < body.length; index++) {
    if (index > turn) {
      await nextTurn();
      turn = index + bytesPerTurn;
    }
    const byte = body[index];
    if (byte === quote) {
      const last = endOfText(body, index);
      if (depth === 1 && key === undefined) text = last - index > 8 ? '' : body.toString('utf8', index + 1, last);
      index = last;
    } else if (byte === openObject || byte === openList) {
      depth++;
    } else if (byte === closeObject || byte === closeList) {
      if (depth === 1) end(index);
      depth--;
    } else if (depth === 1 && byte === colon) {
      key = text;
      from = index + 1;
    } else if (depth === 1 && byte === comma) end(index);
  }
  if (depth !== 0) throw new Error('the answer is not valid JSON');
  return members;
}

function trim(bytes: Buffer): Buffer {
  let [start, end] = [0, bytes.length];
  while (start < end && (bytes[start] ?? 0) <= 0x20) start++;
  while (end > start && (bytes[end - 1] ?? 0) <= 0x20) end--;
  return bytes.subarray(start, end);
}

function parseEntries(bytes: Buffer): readonly unknown[] {
  // A piece that is longer than any tag is no tag list.
  if (bytes.length > bytesPerTurn) throw new Error('the answer is not a tag list');
  try {
    return JSON.parse(`[${bytes.toString('utf8')}]`) as readonly unknown[];
  } catch (error) {
    throw new Error('the answer is not valid JSON', { cause: error });
  }
}
