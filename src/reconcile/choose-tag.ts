import { PermanentError } from '../model/errors.ts';
import { formatRepository } from '../model/image-reference.ts';
import type { ImageSource } from '../model/image-source.ts';
import { naturalOrder } from '../select/select-tag.ts';
import type { TagStrategy } from '../model/tag-strategy.ts';
import { inSlices } from '../async/in-parallel.ts';

/** Pattern instructions times characters of tags, at most; checked in slices, some seconds in all: 100,000 tags of 20 characters, 95 instructions. */
const maxSteps = 200_000_000;

/** All tags of a repository; undefined when the registry does not know the repository. */
export type ListTags = (source: ImageSource, signal: AbortSignal) => Promise<readonly string[] | undefined>;

/**
 * The tags among which a policy chooses: all that the registry lists, and the announced tag, which it may not list yet. Throws PermanentError when there are
 * none.
 */
export async function listCandidates(
  strategy: TagStrategy,
  source: ImageSource,
  listTags: ListTags,
  signal: AbortSignal,
  announced?: string,
): Promise<readonly string[]> {
  if (strategy.mutableTag !== undefined) return [strategy.mutableTag];
  const listed = await listTags(source, signal);
  const tags = announced === undefined ? listed : [...(listed ?? []), announced];
  const name = formatRepository(source);
  if (tags === undefined)
    throw new PermanentError('RepositoryNotFound', `the registry does not know ${name}: check the name, or push an image`);
  const candidates: string[] = [];
  let steps = 0;
  await inSlices(tags, signal, (tag) => {
    steps += strategy.costOf?.(tag) ?? 0;
    if (steps > maxSteps) throw tooCostly(name, tags.length);
    if (strategy.reject(tag) === undefined) candidates.push(tag);
  });
  if (candidates.length > 0) return candidates;
  throw noneSelected(strategy, source, tags);
}

function tooCostly(name: string, count: number): PermanentError {
  const what = `the patterns of tags are too large for the ${count} tags of ${name}`;
  return new PermanentError('InvalidTagPolicy', `${what}: write smaller repetition counts, or remove tags from the registry`);
}

/** The error that says why no tag is selected. It explains the tag that looks newest, preferably one with a number in it. */
export function noneSelected(strategy: TagStrategy, source: ImageSource, tags: readonly string[]): PermanentError {
  const numbered = tags.filter((tag) => /[0-9]/.test(tag));
  const [example] = (numbered.length > 0 ? numbered : tags).toSorted((a, b) => naturalOrder(b, a));
  const why = example === undefined ? '' : `; for example ${strategy.reject(example)}`;
  const what = `none of the ${tags.length} tags of ${formatRepository(source)} is ${strategy.description}${why}`;
  const { note } = strategy;
  return new PermanentError('NoMatchingTag', note === undefined || what.includes(note) ? what : `${what}; ${note}`);
}
