import type { TagStrategy } from '../../model/tag-strategy.ts';

/** Follows one mutable tag by its digest: the image that the tag points to now is selected. */
export function digest(options: { tag: string }): TagStrategy {
  return {
    id: 'digest',
    description: `the digest of the tag "${options.tag}"`,
    mutableTag: options.tag,
    reject: (tag) => (tag === options.tag ? undefined : `"${tag}" is not the followed tag "${options.tag}"`),
    compare: () => 0,
  };
}
