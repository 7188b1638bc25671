import { BoundedMap } from '../async/bounded-map.ts';
import { PermanentError } from '../model/errors.ts';
import { maxExtracted, parseTemplate } from './extract-template.ts';
import { compilePattern, type Pattern } from '../model/pattern.ts';
import type { TagStrategy } from '../model/tag-strategy.ts';

/** Which tags are candidates, and which part of them is compared. All fields are optional. */
export interface TagFilter {
  /** An RE2 expression that must match the whole tag. */
  readonly allow?: string | undefined;
  /** A template of the text to compare, with the groups of `allow`. */
  readonly extract?: string | undefined;
  /** RE2 expressions. A tag in which one matches anywhere is not a candidate. */
  readonly ignore?: readonly string[] | undefined;
}

/** The part of a tag that is compared, or why the tag is not a candidate. */
type Part = { readonly value: string } | { readonly rejection: string };
type ReadPart = (tag: string) => Part;

/** The number of tags that are cached while the policy is unchanged: the selected one, which each resync evaluates, and those it is compared with. */
const rememberedTags = 8;

/**
 * Wraps a strategy in a filter. The strategy gets only tags that pass, and only the part of them that is compared. Throws PermanentError(InvalidTagPolicy)
 * whose message begins with the name of the field.
 */
export function filterTags(strategy: TagStrategy, filter: TagFilter): TagStrategy {
  const { allow, extract, ignore = [] } = filter;
  if (allow === undefined && extract === undefined && ignore.length === 0) return strategy;
  const { read, size } = buildReader(filter);
  const costOf = (tag: string) => size * (tag.length + 1);
  const described = { ...strategy, costOf, description: strategy.description + describe(filter) };
  const filtered: TagStrategy = {
    ...behind(described, remember(read, rememberedTags)),
    remembering: () => behind(described, remember(read, Infinity)),
  };
  const { mutableTag } = strategy;
  const rejection = mutableTag === undefined ? undefined : filtered.reject(mutableTag);
  if (rejection === undefined) return filtered;
  throw new PermanentError(
    'InvalidTagPolicy',
    `tags: no tag is left to follow: ${rejection}; remove tags, which select.digest does not need`,
  );
}

function behind(strategy: TagStrategy, read: ReadPart): TagStrategy {
  const { withCreationTimes } = strategy;
  // Strategies that order by creation time do not compare names.
  const partOf = withCreationTimes === undefined ? read : (tag: string) => wholeOf(tag, read(tag));
  return {
    ...strategy,
    reject(tag) {
      const part = partOf(tag);
      return 'rejection' in part ? part.rejection : strategy.reject(part.value);
    },
    compare(a, b) {
      const [left, right] = [partOf(a), partOf(b)];
      return 'value' in left && 'value' in right ? strategy.compare(left.value, right.value) : 0;
    },
    partOf(tag) {
      const part = partOf(tag);
      if (!('value' in part)) return undefined;
      return strategy.partOf === undefined ? part.value : strategy.partOf(part.value);
    },
    ...(withCreationTimes !== undefined && {
      withCreationTimes: (created) => behind({ ...withCreationTimes(created), description: strategy.description }, read),
    }),
  };
}

/** Caches the results for the last tags. */
function remember(read: ReadPart, limit: number): ReadPart {
  const parts = new BoundedMap<string, Part>(limit);
  return (tag) => {
    const known = parts.get(tag);
    if (known !== undefined) return known;
    const part = read(tag);
    parts.set(tag, part);
    return part;
  };
}

function wholeOf(tag: string, part: Part): Part {
  return 'value' in part ? { value: tag } : part;
}

/** Builds the reader of the compared part. `size` is the number of pattern instructions for a tag. */
function buildReader({ allow, extract, ignore = [] }: TagFilter): { read: ReadPart; size: number } {
  const ignored = ignore.map((text, index) => inField(`tags.ignore[${index}]`, () => compilePattern(text)));
  const allowed = allow === undefined ? undefined : inField('tags.allow', () => compilePattern(allow));
  const read = allowed === undefined ? readWhole(extract) : readAllowed(allowed, extract);
  return {
    read(tag) {
      const hit = ignored.find((pattern) => pattern.isFoundIn(tag));
      return hit === undefined ? read(tag) : { rejection: `"${tag}" is ignored by "${hit.text}"` };
    },
    size: [...ignored, ...(allowed === undefined ? [] : [allowed])].reduce((sum, { size }) => sum + size, 0),
  };
}

function readWhole(extract: string | undefined): ReadPart {
  if (extract === undefined) return (value) => ({ value });
  throw new PermanentError('InvalidTagPolicy', 'tags.extract: takes its groups from allow: write tags.allow as well');
}

function readAllowed(allow: Pattern, extract: string | undefined): ReadPart {
  const expand = extract === undefined ? undefined : inField('tags.extract', () => parseTemplate(extract, allow.groups));
  return (tag) => {
    const groupOf = allow.matchWhole(tag);
    if (groupOf === undefined) return { rejection: `"${tag}" does not match "${allow.text}"` };
    const value = expand === undefined ? tag : expand(groupOf);
    if (expand !== undefined && value.length > maxExtracted)
      return { rejection: `"${tag}" has too much to compare: "${extract}" is longer than ${maxExtracted} characters` };
    return value === '' ? { rejection: `"${tag}" has nothing to compare: "${extract}" is empty` } : { value };
  };
}

function describe({ allow, ignore = [] }: TagFilter): string {
  const parts = [
    ...(allow === undefined ? [] : [`that match "${allow}"`]),
    ...(ignore.length === 0 ? [] : [`that do not have ${ignore.map((pattern) => `"${pattern}"`).join(' or ')}`]),
  ];
  return `, among those ${parts.join(' and ')}`;
}

function inField<T>(field: string, build: () => T): T {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    throw new PermanentError(error.reason, `${field}: ${error.message}`, { cause: error });
  }
}
