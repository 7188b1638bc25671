/** Patterns of repositories, such as `harbor.example.com/shop/*`. `*` stands for any characters including slashes. */
import { PermanentError } from './errors.ts';
import {
  formatRepository,
  isDockerHub,
  normaliseRegistry,
  splitName,
  tryParseImageReference,
  type RegistryAliases,
  type Repository,
} from './image-reference.ts';

/** Whether a pattern matches a repository. A pattern without a registry is for Docker Hub, as in the name of an image. */
export function matchesRepository(pattern: string, repository: Repository, aliases?: RegistryAliases): boolean {
  return matchesText(normalisePattern(pattern, aliases), formatRepository(repository));
}

/** Whether a pattern matches a text. `*` stands for any characters. Takes time linear in both. */
export function matchesText(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  // Each part is searched after the one before it. A regular expression for a*a*a* would try every combination.
  let end = first.length;
  for (const part of others) {
    const found = text.indexOf(part, end);
    if (found === -1) return false;
    end = found + part.length;
  }
  return text.length - last.length >= end && text.endsWith(last);
}

/** Whether the `wide` pattern equals the `narrow` one, or is a beginning of it and a star. Both are results of `normalisePattern`. */
export function coversPattern(wide: string, narrow: string): boolean {
  return wide === narrow || (wide.indexOf('*') === wide.length - 1 && narrow.startsWith(wide.slice(0, -1)));
}

/** Throws a PermanentError with a suggestion for a pattern that no repository can match. */
export function checkRepositoryPattern(pattern: string): void {
  const example = pattern.replaceAll('*', '0');
  const parsed = tryParseImageReference(example);
  // Spellings that only the name of an image may have, such as a slash at the end, do not match normalised names.
  if (parsed !== undefined && formatRepository(parsed.repository) === normalisePattern(example)) return;
  throw new PermanentError(
    'InvalidPolicy',
    `"${pattern}" is no repository, whatever "*" stands for: write a registry and a path, such as "harbor.example.com/shop/*"`,
  );
}

/** The pattern in the form in which repositories are compared: with its registry, unless a star may stand for it, and with one star instead of several. */
export function normalisePattern(pattern: string, aliases?: RegistryAliases): string {
  const short = pattern.replaceAll(/\*+/g, '*');
  if (/^[^/]*\*/.test(short)) return short;
  const [host, path] = splitName(short);
  const registry = normaliseRegistry(host, aliases);
  // On Docker Hub, a name without a slash is in `library`. A star may stand for the slash.
  return `${registry}/${isDockerHub(host, aliases) && !/[*/]/.test(path) ? `library/${path}` : path}`;
}
