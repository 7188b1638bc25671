import type { TagStrategy } from '../../model/tag-strategy.ts';

/** One mutable tag, followed by its digest: whatever the tag points to now is what should run. */
export function digest(options: { tag: string }): TagStrategy {
  return {
    id: 'digest',
    description: `the digest of the tag "${options.tag}"`,
    mutableTag: options.tag,
    reject: (tag) => (tag === options.tag ? undefined : `"${tag}" is not the followed tag "${options.tag}"`),
    compare: () => 0,
  };
}
