/** The versions of a base that images may be built on. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { isArtifactTag } from '../../core/model/artifact.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { TagStrategy } from '../../core/model/tag-strategy.ts';
import { compareTags, naturalOrder } from '../../core/select/select-tag.ts';
import { maxVersions, type BaseVersion } from './recognize-images.ts';

const parallelReads = 8;

/** All tags of a base, and the selected one. */
export interface BaseTags {
  readonly source: ImageSource;
  readonly tags: readonly string[];
  /** Orders the versions. */
  readonly strategy: TagStrategy;
  readonly selected: { readonly tag: string; readonly digest: string };
}

interface Means {
  readonly registry: {
    headManifest(source: ImageSource, tag: string, signal: AbortSignal): Promise<{ readonly digest: string } | undefined>;
  };
  readonly signal: AbortSignal;
}

/** The selected version first, then those that could be selected, then all other tags, the newest first; at most a hundred. Rejects if one cannot be read. */
export async function listVersions({ source, tags, strategy, selected }: BaseTags, { registry, signal }: Means): Promise<BaseVersion[]> {
  const isVersion = new Set(tags.filter((other) => strategy.reject(other) === undefined));
  const others = tags
    .filter((other) => other !== selected.tag && !isArtifactTag(other))
    .toSorted((a, b) => {
      if (isVersion.has(a) && isVersion.has(b)) return compareTags(strategy, b, a);
      return Number(isVersion.has(b)) - Number(isVersion.has(a)) || naturalOrder(b, a);
    })
    .slice(0, maxVersions - 1);
  const heads = await inParallel(others, parallelReads, (other) => registry.headManifest(source, other, signal));
  signal.throwIfAborted();
  // Several tags may have the same digest: the first, most specific one is shown.
  const versions = new Map<string, BaseVersion>([[selected.digest, { tag: selected.tag, digest: selected.digest }]]);
  for (const [index, head] of heads.entries()) {
    if (head.status === 'rejected') throw head.reason;
    const digest = head.value?.digest;
    if (digest !== undefined && !versions.has(digest)) versions.set(digest, { tag: others[index], digest });
  }
  return [...versions.values()];
}
