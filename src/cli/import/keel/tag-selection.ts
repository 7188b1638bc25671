import { describeError } from '../../../model/errors.ts';
import { compilePattern } from '../../../model/pattern.ts';
import type { NoSelection, Selection } from './selection.ts';
import { convertForcedVersion } from './version-selection.ts';

const pushOrder = 'Keel takes the match that was pushed last; here the image that was created last is selected.';
const textOrder = 'As with Keel, tags are compared as texts ("9" is after "10"): for numbers write select.numerical and tags.extract.';

/**
 * `force`: with `matchTag` the tag that runs is followed. Without it Keel takes whatever is pushed, but for a version only a higher one
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
    ...(version ?? { select: { numerical: { order: 'Ascending' } } }),
    pin: 'Digest',
    notes: [pinned, `Only higher ${what} are applied, as with Keel since its issue 823; tags that are no ${what} are not candidates.`],
  };
}

/** `glob:PATTERN`, in which only `*` means something. */
export function convertGlob(pattern: string): Selection | NoSelection {
  if (pattern === '' || pattern.includes(':')) return { problem: `Keel cannot read the policy "glob:${pattern}", and does nothing` };
  const allow = `^${pattern.split('*').map(escape).join('.*')}$`;
  return withAllow(allow, { alphabetical: {} }, [textOrder]);
}

/** `regexp:PATTERN`, which Keel looks for anywhere in the tag; a group `compare` is what is compared. */
export function convertRegexp(pattern: string, polls: boolean): Selection | NoSelection {
  if (!pattern.includes('(?P<compare>') && !pattern.includes('(?<compare>'))
    return withAllow(wholeTag(pattern), polls ? { alphabetical: {} } : { newest: {} }, [polls ? textOrder : pushOrder]);
  const converted = withAllow(wholeTag(pattern), { alphabetical: {} }, [textOrder]);
  return 'problem' in converted ? converted : { ...converted, tags: { ...converted.tags, extract: '$compare' } };
}

/** `newest:PATTERN`. */
export function convertNewest(pattern: string): Selection | NoSelection {
  return withAllow(wholeTag(pattern), { newest: {} }, []);
}

function withAllow(allow: string, select: Selection['select'], notes: readonly string[]): Selection | NoSelection {
  try {
    compilePattern(allow);
  } catch (error) {
    return { problem: describeError(error) };
  }
  return { select, ...(allow !== '^.*$' && { tags: { allow } }), notes };
}

/** `tags.allow` has to match the whole tag. */
function wholeTag(pattern: string): string {
  const isWhole = pattern.startsWith('^') && /(?<!\\)\$$/.test(pattern) && !pattern.includes('|');
  if (isWhole) return pattern;
  return /^(?:\.\*)?$/.test(pattern) ? '^.*$' : `^.*(?:${pattern}).*$`;
}

function escape(text: string): string {
  return text.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
}
