import fc from 'fast-check';

type Path = readonly (string | number)[];

/** A document inside a text: JSON in a JSON string, in base64, or in a form. */
class Embedded {
  readonly inner: unknown;
  readonly encode: (json: string) => string;

  constructor(inner: unknown, encode: (json: string) => string) {
    this.inner = inner;
    this.encode = encode;
  }
}

/** What a field may hold instead; no text that could be a name. */
const junk: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  [],
  {},
  [[]],
  [null],
  { a: { b: null } },
  '',
  ' ',
  '\u0000',
  '..',
  '🐳',
  'x'.repeat(5_000),
  { toString: 1 },
  { length: { toString: 1 } },
];

/** The body with one to three of its fields deleted or replaced, also of documents within the document. */
export function mutationsOf(body: Buffer): fc.Arbitrary<Buffer> {
  const document = expand(body.toString('utf8'));
  const paths = pathsIn(document);
  const change = fc.record({ path: fc.constantFrom(...paths), value: fc.option(fc.constantFrom(...junk), { nil: undefined }) });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    let mutated = document;
    for (const { path, value } of changes) mutated = replace(mutated, path, value);
    const text = collapse(mutated);
    return Buffer.from(typeof text === 'string' ? text : (JSON.stringify(text) ?? ''));
  });
}

/** All that the body says, without its encodings. */
export function plainTextOf(body: Buffer): string {
  return JSON.stringify(expand(body.toString('utf8')), (_key, value: unknown) => (value instanceof Embedded ? value.inner : value));
}

function expand(node: unknown): unknown {
  if (typeof node === 'string') return embeddedIn(node) ?? node;
  if (Array.isArray(node)) return node.map(expand);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, expand(inner)]));
}

function embeddedIn(text: string): Embedded | undefined {
  if (text.startsWith('payload=')) {
    return new Embedded(expand(new URLSearchParams(text).get('payload')), (inner) => `payload=${encodeURIComponent(inner)}`);
  }
  const document = parse(text);
  if (document !== undefined) return new Embedded(expand(document), (json) => json);
  const decoded = parse(Buffer.from(text, 'base64').toString('utf8'));
  return decoded === undefined ? undefined : new Embedded(expand(decoded), (json) => Buffer.from(json).toString('base64'));
}

function parse(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}

function collapse(node: unknown): unknown {
  if (node instanceof Embedded) {
    const inner = collapse(node.inner);
    return node.encode(typeof inner === 'string' && node.inner instanceof Embedded ? inner : (JSON.stringify(inner) ?? ''));
  }
  if (Array.isArray(node)) return node.map(collapse);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, collapse(inner)]));
}

function pathsIn(node: unknown, path: Path = []): Path[] {
  if (node instanceof Embedded) return [path, ...pathsIn(node.inner, [...path, 0])];
  if (typeof node !== 'object' || node === null) return [path];
  const entries: [string | number, unknown][] = Array.isArray(node) ? [...node.entries()] : Object.entries(node);
  return [path, ...entries.flatMap(([key, inner]) => pathsIn(inner, [...path, key]))];
}

/** `undefined` deletes. A path that an earlier change took away changes nothing. */
function replace(node: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (node instanceof Embedded) return new Embedded(replace(node.inner, rest, value), node.encode);
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) {
    return node.flatMap((inner, index) => {
      if (index !== key) return [inner];
      const replaced = replace(inner, rest, value);
      return replaced === undefined ? [] : [replaced];
    });
  }
  return Object.fromEntries(Object.entries(node).map(([name, inner]) => [name, name === key ? replace(inner, rest, value) : inner]));
}
