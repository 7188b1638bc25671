/** The selected version of a base, and the others that images may be built on. */
import { inParallel } from '../../async/in-parallel.ts';
import type { BaseVersion } from '../../bases/recognize-images.ts';
import { isArtifactTag } from '../../model/artifact.ts';
import { formatRepository, type Repository } from '../../model/image-reference.ts';
import type { TagStrategy } from '../../model/tag-strategy.ts';
import { noneSelected } from '../../reconcile/select-best.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { compareTags, naturalOrder, selectTag } from '../../select/select-tag.ts';

export interface WantedBase {
  readonly base: Repository;
  /** Selects a version, and orders the others. */
  readonly strategy: TagStrategy;
  /** A mutable tag to select instead. */
  readonly latest: string | undefined;
}

/** The version of a base that images should be built on. */
export interface SelectedBase {
  readonly tag: string;
  readonly digest: string;
  /** When it was created, as the image states it. */
  readonly created?: string;
}

/** As many as `recognizeImages` compares. */
const maxVersions = 100;
const parallelReads = 8;

interface Means {
  readonly registry: Pick<RegistryClient, 'listTags' | 'readImage' | 'headManifest'>;
  readonly signal: AbortSignal;
}

/** The selected version first, then those that could be selected, then all other tags, the newest first. Rejects if none can be selected, or one cannot be read. */
export async function findVersions(
  { registry, signal }: Means,
  { base, strategy, latest }: WantedBase,
): Promise<{ readonly selected: SelectedBase; readonly versions: readonly BaseVersion[] }> {
  const repository = formatRepository(base);
  const tags = await registry.listTags(base, signal);
  if (tags === undefined) throw new Error(`the registry does not know ${repository}: check the name`);
  const tag = latest ?? selectTag(strategy, tags);
  if (tag === undefined) throw noneSelected(strategy, base, tags);
  const image = await registry.readImage(base, tag, signal);
  if (image === undefined)
    throw new Error(`the registry does not have ${repository}:${tag}: select another version with --latest or --range`);
  if (image.notRunnable !== undefined) throw new Error(`${repository}:${tag} is not an image: ${image.notRunnable}`);
  const isVersion = new Set(tags.filter((other) => strategy.reject(other) === undefined));
  const others = tags
    .filter((other) => other !== tag && !isArtifactTag(other))
    .toSorted((a, b) => {
      if (isVersion.has(a) && isVersion.has(b)) return compareTags(strategy, b, a);
      return Number(isVersion.has(b)) - Number(isVersion.has(a)) || naturalOrder(b, a);
    })
    .slice(0, maxVersions - 1);
  const heads = await inParallel(others, parallelReads, (other) => registry.headManifest(base, other, signal));
  const selected = { tag, digest: image.digest, ...(image.created && { created: image.created.toISOString() }) };
  // Several tags may have the same digest: the first, most specific one is shown.
  const versions = new Map<string, BaseVersion>([[selected.digest, selected]]);
  for (const [index, head] of heads.entries()) {
    if (head.status === 'rejected') throw head.reason;
    const digest = head.value?.digest;
    if (digest !== undefined && !versions.has(digest)) versions.set(digest, { tag: others[index], digest });
  }
  return { selected, versions: [...versions.values()] };
}
