import type { Random } from './random.ts';

/** What no sender puts into a field, and some attacker would. */
const oddValues: readonly [unknown, ...unknown[]] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -0,
  Number.MAX_SAFE_INTEGER + 2,
  '',
  ' ',
  '\u0000',
  '..',
  '../../etc',
  '/',
  ':',
  '@',
  'a@b@c',
  '🐳',
  '\ud800',
  'x'.repeat(2_000),
  'https://',
  'http://[::1',
  'sha256:',
  `sha256:${'a'.repeat(64)}`,
  `sha256-${'a'.repeat(64)}.sig`,
  'latest',
  'NaN',
  '%',
  '%00',
  '{}',
  '[]',
  '{"a":',
  [],
  {},
  [[]],
  [null],
  [{}],
  { toString: 1 },
  { __proto__: null },
  { length: 1e9 },
  ['push'],
  { constructor: { prototype: { tag: 'x' } } },
];

/** JSON text of the document with some of its parts deleted, doubled, swapped or replaced. */
export function mutateJson(document: unknown, random: Random): string {
  let mutated = structuredClone(document);
  for (let count = 1 + random.below(4); count > 0; count--) mutated = change(mutated, random);
  const text = JSON.stringify(mutated) ?? '';
  return random.chance(0.2) ? mutateText(text, random) : text;
}

function change(node: unknown, random: Random): unknown {
  // Now and then the whole of it, mostly something inside.
  if (typeof node !== 'object' || node === null || random.chance(0.05)) return replacement(node, random);
  if (Array.isArray(node)) return changeArray(node, random);
  const keys = Object.keys(node);
  const key = random.pick(keys);
  if (key === undefined) return replacement(node, random);
  const record: Record<string, unknown> = { ...node };
  const action = random.below(10);
  if (action === 0) delete record[key];
  else if (action === 1) record[key] = record[random.pick(keys) ?? key];
  else if (action === 2)
    return Object.fromEntries(Object.entries(record).map(([name, value]) => [name === key ? random.pick(oddKeys) : name, value]));
  else record[key] = change(record[key], random);
  return record;
}

const oddKeys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', 'TAG', 'then'] as const;

function changeArray(list: readonly unknown[], random: Random): unknown[] {
  const index = random.below(list.length + 1);
  const action = random.below(6);
  if (action === 0) return list.toSpliced(index, 1);
  if (action === 1) return [...list, ...list, ...list].slice(0, 300);
  if (action === 2) return list.toSpliced(index, 0, random.pick(oddValues));
  return list.map((value, position) => (position === index || list.length === 1 ? change(value, random) : value));
}

function replacement(node: unknown, random: Random): unknown {
  if (typeof node === 'string' && random.chance(0.3)) return mutateText(node, random);
  if (random.chance(0.02)) return nest(200, random);
  return random.pick(oddValues);
}

function nest(depth: number, random: Random): unknown {
  let nested: unknown = 1;
  for (let level = 0; level < depth; level++) nested = random.chance(0.5) ? [nested] : { a: nested };
  return nested;
}

/** The text with a few characters cut, doubled, or put in: also what JSON.stringify never writes, such as a key twice. */
export function mutateText(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const until = Math.min(text.length, at + 1 + random.below(12));
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(until);
    case 2:
      return text.slice(0, until) + text.slice(at);
    case 3:
      return (
        text.slice(0, at) +
        (random.pick(['"', '\\', '{', '}', '[', ']', ',', ':', '\u0000', '1e999', '\\u0061', '\\ud800', '/', '%41']) ?? '') +
        text.slice(at)
      );
    case 4:
      return text.replace(/\{("[^"{}]*":"[^"{}]*",)/, (_whole, pair: string) => `{${pair}${pair}`);
    default:
      return text.toUpperCase();
  }
}
