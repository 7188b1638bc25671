import { Range, compareBuild, parse } from 'semver';
import { PermanentError } from '../errors.ts';
import type { TagStrategy } from './strategy.ts';

const maxRangeLength = 256;

/**
 * The highest semantic version (semver.org 2.0.0; a leading `v` is allowed, nothing is coerced: `1.2` is no version).
 * `range` in npm's syntax; without one the highest stable version. Prereleases only where the range names one, or with `prereleases`.
 * Throws PermanentError(InvalidTagPolicy) with the parser's message.
 */
export function semver(options: { range?: string; prereleases?: boolean }): TagStrategy {
  const written = options.range?.trim();
  const prereleases = options.prereleases ?? false;
  const range = parseRange(written || '*', prereleases);
  return {
    id: 'semver',
    description: describe(written, prereleases),
    reject(tag) {
      const version = parse(tag);
      if (version === null) return `"${tag}" is not a semantic version`;
      if (range.test(version)) return undefined;
      return version.prerelease.length > 0 && !written ? `"${tag}" is a prerelease` : `"${tag}" is outside the range "${range.raw}"`;
    },
    compare: (a, b) => compareBuild(a, b),
  };
}

function describe(range: string | undefined, prereleases: boolean): string {
  if (!range) return prereleases ? 'the highest version, prereleases included' : 'the highest stable version';
  return `the highest version in "${range}"${prereleases ? ', prereleases included' : ''}`;
}

function parseRange(text: string, includePrerelease: boolean): Range {
  if (text.length > maxRangeLength)
    throw new PermanentError('InvalidTagPolicy', `the version range is longer than ${maxRangeLength} characters`);
  try {
    return new Range(text, { includePrerelease });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new PermanentError('InvalidTagPolicy', `${message}: write a version range such as "1.18.*" or ">=1.2 <2"`, { cause: error });
  }
}
