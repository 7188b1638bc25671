import type { NoSelection, Selection } from './selection.ts';

interface Version {
  readonly numbers: readonly string[];
  readonly suffix: string | undefined;
}

const stages = /^(?:alpha|a|beta|b|rc|pre|preview|dev|snapshot|next|canary|nightly)[0-9]*(?:\.|$)/i;

/**
 * `all`, `major`, `minor` and `patch`, which Keel compares with the version that runs: a range is made of it. Except with `all`, and unless
 * `matchPreRelease` is off, Keel stays with the same suffix: from 1.2.3-alpine to 1.2.4-alpine only.
 */
export function convertVersions(policy: string, matchPreRelease: boolean, runningTag: string): Selection | NoSelection {
  const bounded = policy === 'minor' || policy === 'patch';
  if (runningTag === 'latest') {
    if (bounded)
      return { problem: `it runs "latest", of which no range follows for "${policy}": write a policy with the range that you want` };
    return { select: { semver: {} }, notes: ['It runs "latest", which is replaced by the highest version.'] };
  }
  const version = parse(runningTag);
  if (version === undefined) return { problem: `"${runningTag}" is no version: Keel's policy "${policy}" does nothing with it` };
  const [major = '', minor = '', patch] = version.numbers;
  if (policy === 'patch' && patch === undefined)
    return {
      problem: `"${runningTag}" has two numbers, and the policy "patch" compares the third: write a policy with select and tags by hand`,
    };
  const range = policy === 'minor' ? `${major}.x` : policy === 'patch' ? `${major}.${minor}.x` : undefined;
  const takesPrereleases = policy === 'all' ? version.suffix === undefined || stages.test(version.suffix) : !matchPreRelease;
  const suffix = takesPrereleases ? undefined : version.suffix;
  const semver = { ...(range !== undefined && { range }), ...(takesPrereleases && { prereleases: true }) };
  const tags = tagsFor(patch === undefined, suffix);
  return {
    select: { semver },
    ...(tags && { tags }),
    notes: [
      ...(range === undefined
        ? []
        : [`The range is that of the version that runs (${runningTag}): widen it when you change to another by hand.`]),
      ...(policy === 'all' && suffix !== undefined ? [`Keel would have taken tags without "-${suffix}", too.`] : []),
      patch === undefined
        ? 'Only tags with two numbers are candidates; Keel compared those with three as well.'
        : 'Only tags with three numbers are candidates; Keel takes "1.5" for 1.5.0.',
    ],
  };
}

/** What `force` selects where a version runs: the highest of its form, prereleases and suffixes included. Undefined for what is no version. */
export function convertForcedVersion(runningTag: string): Pick<Selection, 'select' | 'tags'> | undefined {
  const version = parse(runningTag);
  if (version === undefined) return undefined;
  const hasTwoNumbers = version.numbers.length === 2;
  const tags = tagsFor(hasTwoNumbers, hasTwoNumbers ? version.suffix : undefined);
  return { select: { semver: { prereleases: true } }, ...(tags && { tags }) };
}

function parse(tag: string): Version | undefined {
  const [, numbers, suffix] = /^v?((?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){1,2})(?:-([0-9A-Za-z.-]+))?$/.exec(tag) ?? [];
  return numbers === undefined ? undefined : { numbers: numbers.split('.'), suffix };
}

/** Versions of three numbers are read as they are; a suffix is taken off, and a third number is put on. */
function tagsFor(hasTwoNumbers: boolean, suffix: string | undefined): Selection['tags'] {
  if (!hasTwoNumbers && suffix === undefined) return undefined;
  const numbers = hasTwoNumbers ? String.raw`v?[0-9]+\.[0-9]+` : String.raw`v?[0-9]+\.[0-9]+\.[0-9]+`;
  const end = suffix === undefined ? '' : `-${suffix.replaceAll('.', String.raw`\.`)}`;
  return { allow: `^(?P<version>${numbers})${end}$`, extract: hasTwoNumbers ? '${version}.0' : '$version' };
}
