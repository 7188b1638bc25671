/** The selected version of a base, and the others that images may be built on. */
import { listVersions } from '../../recognize/list-versions.ts';
import type { BaseVersion } from '../../recognize/recognize-images.ts';
import { formatRepository, type Repository } from '../../../core/model/image-reference.ts';
import type { TagStrategy } from '../../../core/model/tag-strategy.ts';
import { noneSelected } from '../../../service/reconcile/select-best.ts';
import type { RegistryClient } from '../../../service/registry/client.ts';
import { selectTag } from '../../../core/select/select-tag.ts';

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
  const selected = { tag, digest: image.digest, ...(image.created && { created: image.created.toISOString() }) };
  return { selected, versions: await listVersions({ source: base, tags, strategy, selected }, { registry, signal }) };
}
