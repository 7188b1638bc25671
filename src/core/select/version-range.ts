/** Parses version ranges as users write them: in npm's syntax, or with a comma for "and". */
import { Range, minVersion } from 'semver';
import { PermanentError } from '../model/errors.ts';
import { listFew } from '../model/text.ts';

const maxRangeLength = 256;

/**
 * Reads a range. With `includePrerelease`, it contains the prereleases of every version in it; without, only those that the semver package lets a range contain.
 * Throws PermanentError(InvalidTagPolicy) that says what to write instead.
 */
export function parseVersionRange(text: string, includePrerelease = false): Range {
  if (text.length > maxRangeLength) throw invalid(`the version range is longer than ${maxRangeLength} characters`);
  const range = withoutCommas(text);
  try {
    return new Range(range, { includePrerelease });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw invalid(describeExclusion(text) ?? `${message}: write a version range such as "1.18.*" or ">=1.2 <2"`, error);
  }
}

/** Whether a range contains any version: ">2 <1" does not. */
export function isSatisfiable({ range }: Range): boolean {
  // Each alternative is tested separately, because minVersion uses only the one with the lowest start.
  return range.split('||').some((alternative) => minVersion(alternative) !== null);
}

/** The versions, without their suffix, whose prereleases a range admits without `prereleases`: 1.3.0 for ">=1.3.0-rc.1". */
export function admittedPrereleases(range: Range): string[] {
  const named = range.set.flat().flatMap(({ value, semver }) => {
    // A comparator for any version contains no prerelease.
    if (value === '' || semver.prerelease.length === 0) return [];
    const base = `${semver.major}.${semver.minor}.${semver.patch}`;
    // The versions to test: the named one, and the first versions after it.
    return [semver.version, `${base}-0`, `${semver.version}.0`].some((version) => range.test(version)) ? [base] : [];
  });
  return [...new Set(named)];
}

/**
 * Explains a range that names a prerelease without `prereleases`: in other tools `>=1.0.0-0` contains the prereleases of all its versions. Undefined if it
 * names none.
 */
export function describePrereleases(text: string, range: Range): string | undefined {
  if (!namesPrerelease(text)) return undefined;
  const admitted = admittedPrereleases(range);
  const what =
    admitted.length === 0
      ? `"${text}" admits no prereleases, although it names one`
      : `of prereleases, "${text}" admits only those of ${listFew(admitted, (version) => version)}`;
  return `${what}: select.semver of v1 admits those of every version in it with prereleases: true`;
}

/** Whether a range names a prerelease. */
export function namesPrerelease(text: string): boolean {
  return /[0-9xX*]-[0-9A-Za-z]/.test(text.replace(/\+[0-9A-Za-z.-]*/g, ''));
}

function withoutCommas(text: string): string {
  const alternatives = text.split('||').map((alternative) => {
    const parts = alternative.split(',').map((part) => part.trim());
    if (parts.length > 1 && parts.includes('')) throw invalid(`"${text}" has a comma with nothing before or after it: write ">=1.2, <2"`);
    return parts.join(' ');
  });
  return alternatives.join('||');
}

/** Explains the operator `!=` of other tools, which excludes one version. Undefined if the text has none. */
function describeExclusion(text: string): string | undefined {
  const excluded = /!=\s*v?([0-9A-Za-z.*+-]*)/.exec(text)?.[1];
  if (excluded === undefined) return undefined;
  const numbers = excluded.replace(/(?:\.[xX*])+$/, '');
  const isWhole = /^[0-9]+\.[0-9]+\.[0-9]/.test(numbers);
  const pattern = `^v?${numbers.replace(/[.+]/g, '\\$&')}${isWhole ? '$' : '\\.'}`;
  return `the range "${text}" has "!=", which is no operator here: leave versions out with tags.ignore, such as '${pattern}'`;
}

function invalid(message: string, cause?: unknown): PermanentError {
  return new PermanentError('InvalidTagPolicy', message, { cause });
}
