/** Bodies as large as allowed that are made to cost as much as possible: to decode, to parse, to read entry by entry, to answer. */
import type { Sample } from './read-samples.ts';

export type HostileBody = readonly [name: string, body: Buffer];

/** The default of `listen.bodyLimitBytes`. */
export const megabyte = 1_048_576;

/** For whoever decodes or parses a body, whatever it is meant to say. */
export function hostileBodies(size = megabyte): HostileBody[] {
  const rows: [name: string, unit: string, before?: string, after?: string][] = [
    ['a form of empty fields', '&'],
    ['a form of many fields', 'a&'],
    ['a form of many payloads', 'payload=a&'],
    ['a form whose payload is all escapes', '%41', 'payload='],
    ['a form whose payload is all broken escapes', '%', 'payload='],
    ['a form whose payload is all spaces', '+', 'payload='],
    ['a form whose payload is letters and spaces', 'a+', 'payload='],
    ['one string', 'a', '"', '"'],
    ['one string of escapes', String.raw`\u0061`, '"', '"'],
    ['one string of short escapes', String.raw`\n`, '"', '"'],
    ['one string of two-byte characters', 'é', '"', '"'],
    ['one string of emoji', '🐳', '"', '"'],
    ['zeros', '\0'],
    ['spaces', ' '],
    ['spaces in an object', ' ', '{', '}'],
    ['one number', '9'],
    ['one fraction', '1', '0.'],
    ['numbers', '1,', '[', '1]'],
    ['huge numbers', '1.7976931348623157e308,', '[', '1]'],
    ['empty strings', '"",', '[', '""]'],
    ['empty arrays', '[],', '[', '[]]'],
    ['empty objects', '{},', '[', '{}]'],
    ['small objects', '{"a":1},', '[', '{}]'],
    ['arrays of arrays', '[[[[]]]],', '[', '[]]'],
    ['numbers beside an escape', '1,', String.raw`["\u0061",`, '1]'],
    ['numbers beside an odd key', '1,', '[{"toString":1},', '1]'],
    ['one key again and again', '"a":1,', '{', '"a":1}'],
    ['nested without an end', '['],
    ['nested objects without an end', '{"a":'],
  ];
  return [
    ...rows.map(([name, unit, before, after]): HostileBody => [name, filled(size, unit, before, after)]),
    ['bytes that are no UTF-8', Buffer.alloc(size, 0xff)],
    ['many keys', Buffer.from(manyKeys('{}', size))],
  ];
}

/** The sender's own documents with one list, map or text blown up, and batches of them: every place that its provider reads. */
export function* blownUp(samples: readonly Pick<Sample, 'name' | 'body'>[], size = megabyte): Generator<HostileBody> {
  const seen = new Set<string>();
  for (const { name, body } of samples) {
    const document = parse(body.toString('utf8'));
    if (document !== undefined) yield* blowUp({ name, path: '', before: '', after: '', size, seen }, document);
  }
}

interface Place {
  /** Of the sample. */
  readonly name: string;
  readonly path: string;
  /** What stands around the node in the document. */
  readonly before: string;
  readonly after: string;
  readonly size: number;
  /** The places that were blown up, and how. */
  readonly seen: Set<string>;
}

const entries = ['0', 'null', '""', '{}', '[]', '{"a":1}'];
/** As many entries as a delivery may have. */
const most = 1_000;
/** GitHub describes a user in twenty addresses: some of them stand for all. */
const textsOfObject = 10;
const textsOfBatch = 32;
const purlText = ['&a', '"pkg:oci/a?', '"'] as const;
const batchTexts = [
  ['a', '"', '"'],
  ['1,', '"[', '1]"'],
] as const;

function* blowUp(place: Place, node: unknown): Generator<HostileBody> {
  const { name, path, before, after, size, seen } = place;
  const fill = (what: string, unit: string, open: string, close: string): HostileBody[] => {
    if (!isFirst(seen, `${path.split('.').slice(-2).join('.')} ${what}`)) return [];
    return [[`${name}: ${path} ${what}`, filled(size, unit, before + open, close + after)]];
  };
  if (typeof node === 'string') {
    yield* fill('of letters', 'a', '"', '"');
    yield* fill('of numbers', '1,', '"[', '1]"');
    yield* fill('of numbers in base64', 'LDEs', `"${Buffer.from('[1').toString('base64').slice(0, 2)}`, '"');
    if (node.startsWith('pkg:')) yield* fill('of qualifiers', ...purlText);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const text = JSON.stringify(node);
  if (Array.isArray(node)) {
    for (const entry of entries) yield* fill(`of ${entry}`, `${entry},`, '[', `${entry}]`);
    if (node.length > 0) yield* batches(place, node[0]);
  } else {
    yield* fill('as a list', `${text},`, '[', `${text}]`);
    if (path === '') yield* batches(place, node);
    const room = size - Buffer.byteLength(before + after);
    if (isFirst(seen, `${path.split('.').slice(-2).join('.')} keys`))
      yield [`${name}: ${path} with many keys`, Buffer.from(before + manyKeys(text, room) + after)];
  }
  let texts = 0;
  for (const [key, child] of Object.entries(node).slice(0, Array.isArray(node) ? 1 : undefined)) {
    if (typeof child === 'string' && ++texts > textsOfObject) continue;
    const [open, close] = around(node, key);
    yield* blowUp({ ...place, path: `${path}.${key}`, before: before + open, after: close + after }, child);
  }
}

/** As many copies of an entry as a delivery may have, with one of its texts as long as fits into the whole. */
function* batches({ name, path, before, after, size, seen }: Place, entry: unknown): Generator<HostileBody> {
  const room = size - Buffer.byteLength(before + after) - 2;
  for (const { at, open, close, isPurl } of [...textsIn(entry)].slice(0, textsOfBatch)) {
    if (!isFirst(seen, `${path} batch ${at}`)) continue;
    for (const [unit, first, last] of isPurl ? [...batchTexts, purlText] : batchTexts) {
      const grown = filled(Math.floor(room / most) - 1, unit, open + first, last + close).toString('utf8');
      const copies = Math.min(most, Math.floor(room / (Buffer.byteLength(grown) + 1)));
      yield [`${name}: ${path} a batch, ${at} of ${unit}`, Buffer.from(`${before}[${Array(copies).fill(grown).join(',')}]${after}`)];
    }
  }
}

/** Whether no place of the same name was blown up in the same way: other samples, and other users in a document, are read by the same code. */
function isFirst(seen: Set<string>, key: string): boolean {
  const isNew = !seen.has(key);
  seen.add(key);
  return isNew;
}

function* textsIn(node: unknown, at = '', open = '', close = ''): Generator<{ at: string; open: string; close: string; isPurl: boolean }> {
  if (typeof node === 'string') yield { at, open, close, isPurl: node.startsWith('pkg:') };
  if (typeof node !== 'object' || node === null) return;
  for (const [key, child] of Object.entries(node)) {
    const [before, after] = around(node, key);
    yield* textsIn(child, `${at}.${key}`, open + before, after + close);
  }
}

/** What stands before and after a child in the JSON of its parent. */
function around(node: object, key: string): [before: string, after: string] {
  const mark = '\u0001';
  const marked = Array.isArray(node) ? node.with(Number(key), mark) : { ...node, [key]: mark };
  const [before = '', after = ''] = JSON.stringify(marked).split(JSON.stringify(mark));
  return [before, after];
}

/** The unit as often as it fits, between a beginning and an end. */
function filled(size: number, unit: string, before = '', after = ''): Buffer {
  const times = Math.floor((size - Buffer.byteLength(before + after)) / Buffer.byteLength(unit));
  return Buffer.from(before + unit.repeat(Math.max(0, times)) + after);
}

/** The JSON object with as many more keys as fit, each another one. */
function manyKeys(object: string, size: number): string {
  const pairs: string[] = [];
  for (let index = 0, length = Buffer.byteLength(object) + 1; ; index++) {
    const pair = `"${index.toString(36)}":"a"`;
    length += pair.length + 1;
    if (length > size) break;
    pairs.push(pair);
  }
  return `${object.slice(0, -1)}${object === '{}' ? '' : ','}${pairs.join(',')}}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
