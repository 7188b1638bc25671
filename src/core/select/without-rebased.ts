import { isRebasedTag, originTag } from '../model/rebased-tag.ts';
import type { TagStrategy } from '../model/tag-strategy.ts';

/**
 * The strategy without the tags of rebased images, which only a BaseImagePolicy rolls out: a rebased image is the application's image of before on a newer base,
 * so it is compared as that, and is never newer. Strategies that name their tag do as they are told.
 */
export function withoutRebased(strategy: TagStrategy): TagStrategy {
  if (strategy.mutableTag !== undefined) return strategy;
  const { remembering, withCreationTimes } = strategy;
  return {
    ...strategy,
    reject: (tag) => (isRebasedTag(tag) ? explain(tag) : strategy.reject(tag)),
    ...(remembering && { remembering: () => withoutRebased(remembering()) }),
    ...(withCreationTimes && { withCreationTimes: (created) => withoutRebased(withCreationTimes(created)) }),
  };
}

function explain(tag: string): string {
  return `"${tag}" is ${originTag(tag)} on a newer base: only a BaseImagePolicy rolls it out`;
}
