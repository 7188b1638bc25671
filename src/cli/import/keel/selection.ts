import { defined } from '../../../core/model/defined.ts';
import type { Spec } from '../../../service/resources/v1.ts';
import type { KeelSettings } from './settings.ts';
import { type ConvertedPattern, escapePattern, findAnywhere } from '../tag-patterns.ts';

/** How a policy selects the tag, with notes on differences from Keel. */
export interface Selection {
  readonly select: Spec['select'];
  readonly tags?: NonNullable<Spec['tags']>;
  /** Present if a tag that is pushed again must be applied. */
  readonly pin?: 'Digest';
  readonly notes: readonly string[];
}

/** Why no selection is equivalent to that of Keel. */
export interface NoSelection {
  readonly problem: string;
}

/** Converts `keel.sh/policy` for a workload that runs this tag. */
export function convertSelection(settings: KeelSettings, runningTag: string): Selection | NoSelection {
  const { policy } = settings;
  const colon = policy.indexOf(':');
  const pattern = policy.slice(colon + 1);
  switch (colon === -1 ? policy : policy.slice(0, colon + 1)) {
    case 'all':
    case 'major':
    case 'minor':
    case 'patch':
      return convertVersions(policy, settings.matchPreRelease, runningTag);
    case 'force':
      return convertForce(settings.matchTag, runningTag);
    case 'glob:':
      return convertGlob(pattern);
    case 'regexp:':
      return convertRegexp(pattern, settings.polls);
    case 'newest:':
      return convertNewest(pattern);
    default:
      return { problem: `Keel has no policy "${policy}", and leaves the workload alone` };
  }
}

interface Version {
  readonly numbers: readonly string[];
  readonly suffix: string | undefined;
}

const stages = /^(?:alpha|a|beta|b|rc|pre|preview|dev|snapshot|next|canary|nightly)[0-9]*(?:\.|$)/i;

/**
 * Converts `all`, `major`, `minor` and `patch` to a range, because Keel compares with the version that runs. Except with `all`, and unless `matchPreRelease` is
 * off, Keel keeps the suffix: it goes from 1.2.3-alpine to 1.2.4-alpine only.
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
  const semver = { ...defined({ range }), ...(takesPrereleases && { prereleases: true }) };
  const tags = tagsFor(patch === undefined, suffix);
  return {
    select: { semver },
    ...defined({ tags }),
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

/** The selection for `force` where a version runs: the highest of its form, prereleases and suffixes included. Undefined if the tag is not a version. */
export function convertForcedVersion(runningTag: string): Pick<Selection, 'select' | 'tags'> | undefined {
  const version = parse(runningTag);
  if (version === undefined) return undefined;
  const hasTwoNumbers = version.numbers.length === 2;
  const tags = tagsFor(hasTwoNumbers, hasTwoNumbers ? version.suffix : undefined);
  return { select: { semver: { prereleases: true } }, ...defined({ tags }) };
}

function parse(tag: string): Version | undefined {
  const [, numbers, suffix] = /^v?((?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){1,2})(?:-([0-9A-Za-z.-]+))?$/.exec(tag) ?? [];
  return numbers === undefined ? undefined : { numbers: numbers.split('.'), suffix };
}

/** The tag filter for versions. Those of three numbers stay as they are; a suffix is removed, and a missing third number is appended. */
function tagsFor(hasTwoNumbers: boolean, suffix: string | undefined): Selection['tags'] {
  if (!hasTwoNumbers && suffix === undefined) return undefined;
  const numbers = hasTwoNumbers ? String.raw`v?[0-9]+\.[0-9]+` : String.raw`v?[0-9]+\.[0-9]+\.[0-9]+`;
  const end = suffix === undefined ? '' : `-${suffix.replaceAll('.', String.raw`\.`)}`;
  return { allow: `^(?P<version>${numbers})${end}$`, extract: hasTwoNumbers ? '${version}.0' : '$version' };
}

const pushOrder = 'Keel takes the match that was pushed last; here the image that was created last is selected.';
const textOrder = 'As with Keel, tags are compared as texts ("9" is after "10"): for numbers write select.numerical and tags.extract.';

/**
 * Converts `force`. With `matchTag`, the running tag is followed. Without it, Keel takes any pushed tag, but replaces a version only by a higher one
 * (https://github.com/keel-hq/keel/issues/823).
 */
export function convertForce(matchTag: boolean, runningTag: string): Selection {
  const pinned = 'A tag that is pushed again is applied: its digest is written into the workload (image:tag@sha256:…).';
  const followed = { select: { digest: { tag: runningTag } } };
  if (matchTag) return { ...followed, notes: [pinned] };
  if (!/[0-9]/.test(runningTag))
    return { ...followed, notes: [pinned, 'Keel takes any tag that is pushed: if that is what you want, write "newest: {}".'] };
  const version = convertForcedVersion(runningTag);
  const isNumber = /^[0-9]+$/.test(runningTag);
  if (version === undefined && !isNumber)
    return {
      select: { newest: {} },
      pin: 'Digest',
      notes: [pinned, 'Keel takes any tag that is pushed last; here it is the image that was created last. Narrow it with tags.allow.'],
    };
  const what = isNumber ? 'numbers' : 'versions';
  return {
    ...(version ?? { select: { numerical: {} } }),
    pin: 'Digest',
    notes: [pinned, `Only higher ${what} are applied, as with Keel since its issue 823; tags that are no ${what} are not candidates.`],
  };
}

/** Converts `glob:PATTERN`, in which only `*` is special. */
export function convertGlob(pattern: string): Selection | NoSelection {
  if (pattern === '' || pattern.includes(':')) return { problem: `Keel cannot read the policy "glob:${pattern}", and does nothing` };
  const allow = `^${pattern.split('*').map(escapePattern).join('.*')}$`;
  return withAllow(findAnywhere(allow), { alphabetical: {} }, [textOrder]);
}

/** Converts `regexp:PATTERN`, which Keel searches anywhere in the tag. If it has a group `compare`, Keel compares the text of the group. */
export function convertRegexp(pattern: string, polls: boolean): Selection | NoSelection {
  if (!pattern.includes('(?P<compare>') && !pattern.includes('(?<compare>'))
    return withAllow(findAnywhere(pattern), polls ? { alphabetical: {} } : { newest: {} }, [polls ? textOrder : pushOrder]);
  const converted = withAllow(findAnywhere(pattern), { alphabetical: {} }, [textOrder]);
  return 'problem' in converted ? converted : { ...converted, tags: { ...converted.tags, extract: '$compare' } };
}

/** Converts `newest:PATTERN`. */
export function convertNewest(pattern: string): Selection | NoSelection {
  return withAllow(findAnywhere(pattern), { newest: {} }, []);
}

function withAllow(converted: ConvertedPattern, select: Selection['select'], notes: readonly string[]): Selection | NoSelection {
  if ('problem' in converted) return converted;
  return { select, ...(converted.allow !== undefined && { tags: { allow: converted.allow } }), notes };
}
