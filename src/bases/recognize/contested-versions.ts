/** Reads the settings of versions with the same layers, because only those show which one an image is built on. */
import { inParallel, inSlices } from '../../core/async/in-parallel.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { BaseIndex } from './base-index.ts';
import type { BuildFacts } from './facts.ts';
import type { FactsReader } from './facts-reader.ts';
import { chainsOf } from './layers.ts';
import type { Settings } from './settings.ts';

/** The settings of the images of versions, by the digest of the manifest, and the versions that could not be read. */
export interface KnownSettings {
  readonly settings: ReadonlyMap<string, Settings>;
  /** Reads what the images need to be recognized, and was not read before. */
  readonly learn: (images: readonly BuildFacts[], index: BaseIndex) => Promise<void>;
  /** Why a version that an image may be built on cannot be read; undefined if all can, or the registry does not have it any more. */
  readonly faultFor: (image: BuildFacts, index: BaseIndex) => unknown;
}

const parallelReads = 8;

/** Nothing is read for a base all of whose versions have other layers. */
export function knownSettings(
  source: ImageSource,
  { reader, signal }: { readonly reader: FactsReader; readonly signal: AbortSignal },
): KnownSettings {
  const settings = new Map<string, Settings>();
  const faults = new Map<string, unknown>();
  const tried = new Set<string>();
  return {
    settings,
    async learn(images, index) {
      const contested = new Set<string>();
      await inSlices(index.isContested ? images : [], signal, (image) => {
        for (const digest of contestedBy(image, index)) contested.add(digest);
      });
      const digests = [...contested].filter((digest) => !tried.has(digest));
      const results = await inParallel(digests, parallelReads, (digest) => reader.read(source, digest, signal));
      signal.throwIfAborted();
      for (const [place, digest] of digests.entries()) {
        tried.add(digest);
        const result = results[place];
        if (result?.status === 'rejected') faults.set(digest, result.reason);
        else
          for (const image of result?.value?.platforms ?? []) if (image.settings !== undefined) settings.set(image.digest, image.settings);
      }
    },
    faultFor: (image, index) =>
      faults.size === 0
        ? undefined
        : contestedBy(image, index)
            .map((digest) => faults.get(digest))
            .find((fault) => fault !== undefined),
  };
}

function contestedBy({ platforms }: BuildFacts, index: BaseIndex): string[] {
  if (!index.isContested) return [];
  const images = platforms.map(({ platform, diffIds = [] }) => ({ platform, chains: chainsOf(diffIds) }));
  return images.flatMap((image) => index.contested(image)).map(({ base }) => base.digest);
}
