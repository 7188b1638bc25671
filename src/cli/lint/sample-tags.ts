/**
 * Makes usual tags that a policy would select, to compare policies without their registry: versions, dates, builds, commits and names, with the numbers and
 * words of the policy's own range and patterns. Pure.
 */
import type { TagStrategy } from '../../core/model/tag-strategy.ts';

const names = ['latest', 'stable', 'main', 'develop'];
const plain = [
  '1.4',
  '16.3',
  '9',
  '57',
  '112',
  '20260301',
  '20260302',
  '2026-03-01',
  'main-3f2a1b7',
  'main-9c0ffee',
  'build-9',
  'build-57',
];
const versions = Array.from({ length: 31 }, (_, number) => [`${number}.2.3`, `1.${number}.3`]).flat();
const variants = ['alpine', 'slim', 'rc.1'];
/** The maximum number of words: a pattern of a thousand must not make a million tags. */
const maxHints = 8;

/** Some tags that the strategy selects: of each form the first and the last in its order. `also` are tried as well. Empty if none of them is selected. */
export function sampleTags(strategy: TagStrategy, also: readonly string[] = []): readonly string[] {
  if (strategy.mutableTag !== undefined) return [strategy.mutableTag];
  if (strategy.isProven === true) return [];
  const { numbers, words } = hintsOf(strategy);
  const bodies = [...versions, ...numbers.flatMap(versionsFrom)];
  const prefixes = ['', 'v', ...words.map((word) => `${word}-`)];
  const suffixes = ['', ...[...variants, ...words].map((word) => `-${word}`)];
  const forms = prefixes.flatMap((prefix) => suffixes.map((suffix) => bodies.map((body) => prefix + body + suffix)));
  const found = [...forms, plain, names, also].flatMap((tags) => ends(strategy, tags));
  return [...new Set(found)];
}

function ends(strategy: TagStrategy, tags: readonly string[]): string[] {
  const candidates = tags.filter((tag) => strategy.reject(tag) === undefined).toSorted((a, b) => strategy.compare(a, b));
  const [first, last] = [candidates.at(0), candidates.at(-1)];
  return first === undefined || last === undefined ? [] : [first, last];
}

/** The numbers and words of a range and of patterns, as far as the description contains them. */
function hintsOf({ description }: TagStrategy): { readonly numbers: readonly string[]; readonly words: readonly string[] } {
  const quoted = [...description.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text).join(' ');
  const literal = quoted.replaceAll(/\(\?P?<\w+>/g, ' ').replaceAll('\\.', '.');
  const numbers = literal.match(/[0-9]+(?:\.[0-9]+){0,2}/g) ?? [];
  const words = literal.match(/(?<![\\[a-z])[a-z][a-z0-9]+(?![a-z\]])/gi) ?? [];
  return { numbers: [...new Set(numbers)].slice(0, maxHints), words: [...new Set(words)].slice(0, maxHints) };
}

/** Versions that begin with a number: `10.4` may be the beginning of 10.4.0 and of 10.4.7. */
function versionsFrom(number: string): string[] {
  const parts = number.split('.');
  if (parts.length === 3) return [number, `${parts[0]}.${parts[1]}.${Number(parts[2]) + 1}`];
  const missing = parts.length === 2 ? ['.0', '.7'] : ['.0.0', '.7.1'];
  return missing.map((rest) => number + rest);
}
