import type { TagStrategy } from './strategies/strategy.ts';

/** The greatest candidate among the tags, or undefined when none is one. Equal candidates: the first in the order of code units. */
export function selectTag(strategy: TagStrategy, tags: Iterable<string>): string | undefined {
  let best: string | undefined;
  for (const tag of tags) {
    if (strategy.reject(tag) !== undefined) continue;
    if (best === undefined) best = tag;
    else {
      const order = strategy.compare(tag, best);
      if (order > 0 || (order === 0 && tag < best)) best = tag;
    }
  }
  return best;
}
