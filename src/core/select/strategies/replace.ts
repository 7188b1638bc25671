import type { TagStrategy } from '../../model/tag-strategy.ts';

/** Replaces one tag by another one. Containers that run neither of them stay as they are. */
export function replace({ from, to }: { from: string; to: string }): TagStrategy {
  return {
    id: 'replace',
    description: `the tag "${to}" in place of "${from}"`,
    mutableTag: to,
    replaces: from,
    reject: (tag) => (tag === to ? undefined : `"${tag}" is not the tag "${to}", which replaces "${from}"`),
    compare: () => 0,
  };
}
