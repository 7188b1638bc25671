import { PermanentError } from '../core/errors.ts';
import { formatRepository } from '../core/image-reference.ts';
import type { ImageSource } from '../core/image-source.ts';
import { selectTag } from '../core/select-tag.ts';
import type { TagStrategy } from '../core/strategies/strategy.ts';

/** All tags of a repository; undefined when the registry does not know it. */
export type ListTags = (source: ImageSource, signal: AbortSignal) => Promise<readonly string[] | undefined>;

/**
 * The tag that a policy selects of everything that the registry holds, and of what was announced, which the registry may not list yet; throws
 * PermanentError when there is none.
 */
export async function chooseTag(
  strategy: TagStrategy,
  source: ImageSource,
  listTags: ListTags,
  signal: AbortSignal,
  announced?: string,
): Promise<string> {
  if (strategy.movingTag !== undefined) return strategy.movingTag;
  const listed = await listTags(source, signal);
  const tags = announced === undefined ? listed : [...(listed ?? []), announced];
  const name = formatRepository(source);
  if (tags === undefined)
    throw new PermanentError('RepositoryNotFound', `the registry does not know ${name}: check the name, or push an image`);
  const tag = selectTag(strategy, tags);
  if (tag !== undefined) return tag;
  throw new PermanentError('NoMatchingTag', `none of the ${tags.length} tags of ${name} is ${strategy.description}`);
}
