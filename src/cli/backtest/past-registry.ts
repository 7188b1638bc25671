/** A registry of the past: it holds what had been pushed by the time of a clock. */
import { formatRepository, isDigest, type Repository } from '../../core/model/image-reference.ts';
import type { ImageFacts, Registry } from '../../service/reconcile/ports.ts';
import { createRegistryMemory } from '../../service/reconcile/registry-memory.ts';
import type { PastImage } from './past-image.ts';

export interface PastRegistry {
  readonly registry: Registry;
  push(image: PastImage): void;
}

interface Pushed {
  readonly tags: Map<string, string>;
  readonly images: Map<string, PastImage>;
}

/** Creates an empty registry. `platforms` are those of images whose own nobody knows; `now` is the clock, in ms since 1970. */
export function createPastRegistry(platforms: readonly string[], now: () => number): PastRegistry {
  const repositories = new Map<string, Pushed>();
  const find = (repository: Repository, reference: string): PastImage | undefined => {
    const pushed = repositories.get(formatRepository(repository));
    const digest = isDigest(reference) ? reference : pushed?.tags.get(reference);
    return digest === undefined ? undefined : pushed?.images.get(digest);
  };
  const resolveTag: Registry['resolveTag'] = async (source, tag) => {
    const digest = find(source, tag)?.digest;
    return digest === undefined ? undefined : { digest };
  };
  const readImage = async (source: Repository, reference: string): Promise<ImageFacts | undefined> => {
    const image = find(source, reference);
    return image && { digest: image.digest, platforms: image.platforms ?? platforms, created: image.created, unusable: {} };
  };
  return {
    push(image) {
      const key = formatRepository(image.repository);
      const pushed = repositories.get(key) ?? { tags: new Map<string, string>(), images: new Map<string, PastImage>() };
      repositories.set(key, pushed);
      pushed.tags.set(image.tag, image.digest);
      pushed.images.set(image.digest, image);
    },
    registry: {
      ...createRegistryMemory({ now, elapsed: now }),
      sourceOf: (_policy, spec) => ({ ...spec.repository }),
      hasRead: async () => true,
      headManifest: resolveTag,
      resolveTag,
      readTag: resolveTag,
      listTags: async (source) => {
        const pushed = repositories.get(formatRepository(source));
        return pushed && [...pushed.tags.keys()];
      },
      readImage,
      readPlatforms: readImage,
      readRevision: async (source, digest) => find(source, digest)?.revision,
      readImageList: async (source, digest) => find(source, digest)?.list,
      whyUnusable: async () => ({}),
    },
  };
}
