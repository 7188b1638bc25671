/** The layers of an image that is built on a base begin with all layers of that base. */
import { withVariant } from '../../core/select/missing-platforms.ts';
import type { BuildFacts, PlatformFacts } from './facts.ts';

/** A version of the base: what its registry holds under a digest. */
export interface KnownBase {
  /** `harbor.example.com/library/base-java`. */
  readonly repository: string;
  /** A tag that it has or had. */
  readonly tag?: string;
  /** The digest of the index, or of the manifest if there is none. */
  readonly digest: string;
  readonly platforms: readonly Pick<PlatformFacts, 'platform' | 'digest' | 'diffIds'>[];
}

/** The diff ids of layers without any file, which unrelated images share: the archive of no files, and no bytes at all. */
const emptyLayers = new Set([
  'sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
  'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
]);

/** A known base, from its facts. */
export function knownBase({ digest, platforms }: BuildFacts, { repository, tag }: Pick<KnownBase, 'repository' | 'tag'>): KnownBase {
  return {
    repository,
    ...(tag !== undefined && { tag }),
    digest,
    platforms: platforms.map(({ platform, digest, diffIds }) => ({ platform, digest, ...(diffIds && { diffIds }) })),
  };
}

/** The images of a base for a platform: one, or several for versions of Windows. */
export function imagesFor({ platforms }: KnownBase, platform: string): KnownBase['platforms'] {
  return platforms.filter((one) => withVariant(one.platform) === withVariant(platform));
}

/**
 * How many layers of a base an image for the platform begins with, if these are all of them; otherwise 0. Undefined if that cannot be compared: the layers of
 * one of the two are not known, or those of the base contain no file, so that any image may begin with them.
 */
export function countBaseLayers(base: KnownBase, { platform, diffIds }: Pick<PlatformFacts, 'platform' | 'diffIds'>): number | undefined {
  const same = imagesFor(base, platform);
  // A base of one platform may be used for others, if its files run anywhere.
  const images = same.length > 0 ? same : base.platforms;
  const chains = images.flatMap((image) => (image.diffIds?.some((layer) => !emptyLayers.has(layer)) ? [image.diffIds] : []));
  if (diffIds === undefined || chains.length === 0) return undefined;
  const matching = chains.filter((chain) => chain.every((layer, index) => layer === diffIds[index]));
  return Math.max(0, ...matching.map(({ length }) => length));
}
