import fc from 'fast-check';

type Path = readonly (string | number)[];

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
];

/** JSON texts of the document with one to three of its fields deleted or replaced. */
export function mutationsOf(document: unknown): fc.Arbitrary<string> {
  const paths = pathsIn(document);
  const change = fc.record({ path: fc.constantFrom(...paths), value: fc.option(fc.constantFrom(...junk), { nil: undefined }) });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    let mutated = structuredClone(document);
    for (const { path, value } of changes) mutated = replace(mutated, path, value);
    return JSON.stringify(mutated) ?? '';
  });
}

function pathsIn(node: unknown, path: Path = []): Path[] {
  if (typeof node !== 'object' || node === null) return [path];
  const entries: [string | number, unknown][] = Array.isArray(node) ? [...node.entries()] : Object.entries(node);
  return [path, ...entries.flatMap(([key, inner]) => pathsIn(inner, [...path, key]))];
}

/** `undefined` deletes. A path that an earlier change took away changes nothing. */
function replace(node: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return structuredClone(value);
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
