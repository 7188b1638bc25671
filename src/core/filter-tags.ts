import { PermanentError } from './errors.ts';
import { parseTemplate } from './extract-template.ts';
import type { TagStrategy } from './strategies/strategy.ts';
import { compilePattern } from './tag-pattern.ts';

/** Which tags are candidates, and what of them is compared. Each field may be absent. */
export interface TagFilter {
  /** RE2; must match the whole tag. */
  readonly allow?: string | undefined;
  /** What is compared, made of the groups of `allow`. */
  readonly extract?: string | undefined;
  /** RE2; a tag in which one of them is found is no candidate. */
  readonly ignore?: readonly string[] | undefined;
}

/** What of a tag is compared, or why the tag is no candidate. */
type Part = { readonly value: string } | { readonly rejection: string };

/**
 * The strategy behind a filter: it is asked only about tags that pass, and only about the part of them that is to be compared.
 * Throws PermanentError(InvalidTagPolicy) that begins with the name of the field.
 */
export function filterTags(strategy: TagStrategy, filter: TagFilter): TagStrategy {
  const { allow, extract, ignore = [] } = filter;
  if (allow === undefined && extract === undefined && ignore.length === 0) return strategy;
  const { knowing } = strategy;
  const read = buildReader(filter);
  // Where images are compared, nothing of the name is.
  const partOf = knowing === undefined ? read : (tag: string) => wholeOf(tag, read(tag));
  const filtered: TagStrategy = {
    ...strategy,
    description: strategy.description + describe(filter),
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
      return 'value' in part ? part.value : undefined;
    },
    ...(knowing !== undefined && { knowing: (created) => filterTags(knowing(created), filter) }),
  };
  const { movingTag } = strategy;
  const rejection = movingTag === undefined ? undefined : filtered.reject(movingTag);
  if (rejection === undefined) return filtered;
  throw new PermanentError(
    'InvalidTagPolicy',
    `tags: no tag is left to follow: ${rejection}; remove tags, which select.digest does not need`,
  );
}

function wholeOf(tag: string, part: Part): Part {
  return 'value' in part ? { value: tag } : part;
}

function buildReader({ allow, extract, ignore = [] }: TagFilter): (tag: string) => Part {
  const ignored = ignore.map((pattern, index) => ({ pattern, compiled: inField(`tags.ignore[${index}]`, () => compilePattern(pattern)) }));
  const read = allow === undefined ? readWhole(extract) : readAllowed(allow, extract);
  return (tag) => {
    const hit = ignored.find(({ compiled }) => compiled.matcher(tag).find());
    return hit === undefined ? read(tag) : { rejection: `"${tag}" is ignored by "${hit.pattern}"` };
  };
}

function readWhole(extract: string | undefined): (tag: string) => Part {
  if (extract === undefined) return (value) => ({ value });
  throw new PermanentError('InvalidTagPolicy', 'tags.extract: takes its groups from allow: write tags.allow as well');
}

function readAllowed(allow: string, extract: string | undefined): (tag: string) => Part {
  const compiled = inField('tags.allow', () => compilePattern(allow));
  const groups = { count: compiled.groupCount(), names: compiled.namedGroups() };
  const expand = extract === undefined ? undefined : inField('tags.extract', () => parseTemplate(extract, groups));
  return (tag) => {
    const matcher = compiled.matcher(tag);
    if (!matcher.matches()) return { rejection: `"${tag}" does not match "${allow}"` };
    const value = expand === undefined ? tag : expand((group) => matcher.group(group));
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
