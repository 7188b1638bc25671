import { compareBuild, parse, type Range, type SemVer } from 'semver';
import { defined } from '../../model/defined.ts';
import { admittedPrereleases, describePrereleases, namesPrerelease, parseVersionRange } from '../version-range.ts';
import { versionOfTag } from '../../model/oci-chart.ts';
import type { TagStrategy } from '../../model/tag-strategy.ts';
import { stages } from '../tag-track.ts';

/**
 * Selects the highest semantic version (semver.org 2.0.0; a leading `v` is allowed, nothing is coerced: `1.2` is not a version). `range` is in npm's syntax, or
 * with commas. Without it, the highest stable version is selected. A prerelease is a candidate if `prereleases` is set and its version is in the range, or if the
 * range names a prerelease of the same version: `>=1.3.0-rc.1` admits `1.3.0-rc.2`, but not `1.4.0-rc.1`. Throws PermanentError(InvalidTagPolicy) with the
 * parser's message.
 */
export function semver(options: { range?: string; prereleases?: boolean | undefined; ofCharts?: boolean }): TagStrategy {
  const written = options.range?.trim();
  const prereleases = options.prereleases ?? false;
  if (options.ofCharts === true) return versionsOfCharts(written, prereleases);
  const range = parseVersionRange(written || '*', prereleases);
  const note = prereleases || !written ? undefined : describePrereleases(written, range);
  return {
    id: 'semver',
    description: describe(written, prereleases),
    ...defined({ note }),
    ...(hasEveryVersion(range) && { isUnbounded: true }),
    reject(tag) {
      const version = parse(tag);
      if (version === null) return `"${tag}" is not a semantic version${describeFault(tag)}`;
      if (range.test(version)) return undefined;
      return explain(tag, version, { range, written, note });
    },
    compare: (a, b) => compareBuild(a, b),
  };
}

/** Reads the tags of charts as versions, as Helm does: `_` stands for `+`, and a range that names a prerelease admits those of all its versions. */
function versionsOfCharts(written: string | undefined, prereleases: boolean): TagStrategy {
  const ranges = (written || '*').split('||').map((part) => parseVersionRange(part, prereleases || namesPrerelease(part)));
  return {
    id: 'semver',
    description: describe(written, prereleases),
    ...(ranges.some(hasEveryVersion) && { isUnbounded: true }),
    partOf: versionOfTag,
    reject(tag) {
      const version = parse(versionOfTag(tag));
      if (version === null) return `"${tag}" is not a semantic version${describeFault(tag)}`;
      if (ranges.some((range) => range.test(version))) return undefined;
      if (version.prerelease.length === 0) return `"${tag}" is outside the range "${written}"`;
      const hint = 'write prereleases: true, or a range that names a prerelease, such as ">=1.2.0-0"';
      return `"${tag}" is a prerelease${written ? ` that the range "${written}" does not admit` : ''}: ${hint}`;
    },
    compare: (a, b) => compareBuild(versionOfTag(a), versionOfTag(b)),
  };
}

/** Whether a range says nothing of the versions that are expected, as without one: `*`, `>=0`. */
function hasEveryVersion({ set }: Range): boolean {
  return set.some((comparators) => comparators.every(({ value }) => value === ''));
}

interface Written {
  readonly range: Range;
  readonly written: string | undefined;
  readonly note: string | undefined;
}

function explain(tag: string, { prerelease, major, minor, patch }: SemVer, { range, written = '*', note }: Written): string {
  if (prerelease.length === 0) return `"${tag}" is outside the range "${written}"`;
  const base = `${major}.${minor}.${patch}`;
  // The range also contains versions whose prereleases it names.
  const isInside = range.test(base) && !admittedPrereleases(range).includes(base);
  if (!isInside) return `"${tag}" is a prerelease, and outside the range "${written}"`;
  if (note !== undefined) return `"${tag}" is a prerelease; ${note}`;
  const [first = ''] = prerelease;
  if (typeof first === 'number' || stages.test(first)) return `"${tag}" is a prerelease`;
  const suffix = tag.slice(tag.indexOf('-'));
  return `"${tag}" is a prerelease by its "${suffix}": if that is a variant of the image, take it off with tags.allow and tags.extract`;
}

/** Why a tag that looks like a version is not one. */
function describeFault(tag: string): string {
  const numbers = /^v?([0-9]+(?:\.[0-9]+)*)(?=$|[-+])/.exec(tag)?.[1]?.split('.');
  if (numbers === undefined) return '';
  if (numbers.some((number) => /^0[0-9]/.test(number)))
    return ', in which no number may begin with 0: for dates use select.alphabetical, or select.numerical with tags.extract';
  if (numbers.length !== 3) return `, which has three numbers, not ${numbers.length}: nothing is filled in`;
  if (numbers.some((number) => Number(number) > Number.MAX_SAFE_INTEGER)) return ': a number in it is too large';
  return '';
}

function describe(range: string | undefined, prereleases: boolean): string {
  if (!range) return prereleases ? 'the highest version, prereleases included' : 'the highest stable version';
  return `the highest version in "${range}"${prereleases ? ', prereleases included' : ''}`;
}
