/** The selected version of a base, and the other versions that images may be built on. */
import type { FactsReader } from '../../recognize/facts-reader.ts';
import { type Line, lineOf } from '../../recognize/line.ts';
import type { KnownBases } from '../../recognize/recognize-images.ts';
import { orderTags, orderVersions, readVersions, tagsOfLine } from '../../recognize/read-versions.ts';
import { isArtifactTag } from '../../../core/model/artifact.ts';
import { strategies } from '../../../core/select/strategies/index.ts';
import { formatRepository, type Repository } from '../../../core/model/image-reference.ts';
import type { TagStrategy } from '../../../core/model/tag-strategy.ts';
import { noneSelected } from '../../../service/reconcile/select-best.ts';
import type { RegistryClient } from '../../../service/registry/client.ts';
import { selectTag } from '../../../core/select/select-tag.ts';

export interface WantedBase {
  readonly base: Repository;
  /** Selects the version of the base, and orders the others. */
  readonly strategy: TagStrategy;
  /** A mutable tag to select instead of a version. */
  readonly latest: string | undefined;
  /** How many tags of the base are read. */
  readonly maxTags: number;
}

/** The versions of a base that images are compared with. */
export interface FoundVersions {
  readonly selected: SelectedBase;
  readonly bases: KnownBases & { readonly line: Line };
  /** How many tags of the base are not compared. */
  readonly uncompared: number;
}

/** The version of a base that images should be built on. */
export interface SelectedBase {
  readonly tag: string;
  readonly digest: string;
  /** When the base was created, as its image states it. */
  readonly created?: string;
}

interface Means {
  readonly registry: Pick<RegistryClient, 'listTags' | 'readImage' | 'headManifest'>;
  readonly reader: FactsReader;
  readonly signal: AbortSignal;
}

/** Reads the selected version, then those of its line, then all other tags, newest first. Rejects if none is selectable, or one cannot be read. */
export async function findVersions(
  { registry, reader, signal }: Means,
  { base, strategy: ranged, latest, maxTags }: WantedBase,
): Promise<FoundVersions> {
  const repository = formatRepository(base);
  const strategy = latest === undefined ? ranged : strategies.digest({ tag: latest });
  const tags = await registry.listTags(base, signal);
  if (tags === undefined) throw new Error(`the registry does not know ${repository}: check the name`);
  const tag = latest ?? selectTag(strategy, tags);
  if (tag === undefined) throw noneSelected(strategy, base, tags);
  const image = await registry.readImage(base, tag, signal);
  if (image === undefined)
    throw new Error(`the registry does not have ${repository}:${tag}: select another version with --latest or --range`);
  if (image.unusable.Image !== undefined) throw new Error(`${repository}:${tag} is not an image: ${image.unusable.Image}`);
  const selected = { tag, digest: image.digest, ...(image.created && { created: image.created.toISOString() }) };
  const ofLine = await tagsOfLine(tags, { strategy }, signal);
  const others = await orderTags(
    tags.filter((other) => other !== tag && !isArtifactTag(other)),
    ofLine,
    signal,
  );
  const read = await readVersions(base, [tag, ...others.slice(0, maxTags - 1)], new Map(), { registry, reader, signal });
  const [unread] = read.unread;
  if (unread !== undefined) throw new Error(`${repository}:${unread.tag} cannot be read: ${unread.why}`);
  const known = await orderVersions(read.bases, selected.digest, ofLine, signal);
  const line = await lineOf({ strategy, selected, known, ...ofLine }, signal);
  return { selected, bases: { source: base, known, line }, uncompared: Math.max(0, others.length - (maxTags - 1)) };
}
