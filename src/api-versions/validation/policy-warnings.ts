import { describePrereleases, parseVersionRange } from '../../core/version-range.ts';
import { valueAt } from './json-path.ts';
import { findingOf } from './finding-of.ts';
import { problem, type Problem } from './problem.ts';

/** What is valid in a policy of either version, and may mean something else than its author thinks: `lint` warns of it, and nobody refuses it. */
export function policyWarnings(document: unknown): Problem[] {
  return rangeWarnings(document);
}

function rangeWarnings(document: unknown): Problem[] {
  const isOld = valueAt(document, ['spec', 'tagPolicy', 'strategy']) === 'SemVer';
  const keys = isOld ? ['spec', 'tagPolicy', 'pattern'] : ['spec', 'select', 'semver', 'range'];
  const range = valueAt(document, keys);
  if (typeof range !== 'string' || valueAt(document, ['spec', 'select', 'semver', 'prereleases']) === true) return [];
  const written = range.trim();
  // What is wrong with it is told as a problem.
  if (findingOf(() => parseVersionRange(written)).length > 0) return [];
  const note = describePrereleases(written, parseVersionRange(written));
  return note === undefined ? [] : [problem(keys, note, 'InvalidTagPolicy')];
}
