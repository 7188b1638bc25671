import { isRebasedTag, originTag } from '../model/rebased-tag.ts';
import type { TagStrategy } from '../model/tag-strategy.ts';

/**
 * The strategy without the tags of rebased images, which only a BaseImagePolicy rolls out. A rebased image is the application's former image on a newer base,
 * so it is compared as that, and is never newer. Strategies with a fixed tag, or with the image of other policies, are returned unchanged.
 */
export function withoutRebased(strategy: TagStrategy): TagStrategy {
  if (strategy.mutableTag !== undefined || strategy.isProven === true) return strategy;
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
