/** Compares layers: an image that is built on a base begins with all layers of that base. */
import { hash } from 'node:crypto';
import { defined } from '../../core/model/defined.ts';
import type { BuildFacts } from './facts.ts';
import { fingerprintOf } from './settings.ts';

/** The layers of an image in short. Only layers with files identify a base, so an image without any has none. */
export interface LayerChain {
  /** How many layers the image has. */
  readonly count: number;
  /** One digest for all layers in their order: the ChainID of https://github.com/opencontainers/image-spec/blob/main/config.md#layer-chainid */
  readonly chain: string;
  /** The diff id of the lowest layer that has files. */
  readonly first: string;
  /** The diff id of the top layer. */
  readonly last: string;
}

/** A version of the base: the image that its registry has or had under a digest. */
export interface KnownBase {
  /** The repository of the base: `harbor.example.com/library/base-java`. */
  readonly repository: string;
  /** The tags that the base has or had, the one to show first; empty if none is known. */
  readonly tags: readonly string[];
  /** The digest of the index, or of the manifest if there is none. */
  readonly digest: string;
  readonly platforms: readonly KnownPlatform[];
  /** The source that the base names as its own. Applications inherit the label. */
  readonly builtFrom?: string;
}

/** The image of a base for one platform. `layers` is absent if they are not known, or contain no file. */
export interface KnownPlatform {
  readonly platform: string;
  readonly digest: string;
  readonly layers?: LayerChain;
  /** One digest for the settings that images inherit; absent if they are not known. */
  readonly settings?: string;
}

/** Whether the configuration of an image of the version cannot be read, so that no image can be compared with its layers. Settings are read from it as well. */
export function hidesLayers({ platforms }: Pick<KnownBase, 'platforms'>): boolean {
  return platforms.some(({ layers, settings }) => layers === undefined && settings === undefined);
}

/** The diff ids of layers without any file, which unrelated images share: the archive of no files, and no bytes at all. */
const emptyLayers = new Set([
  'sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
  'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
]);

/** Makes a known base of its facts. */
export function knownBase({ digest, platforms, builtFrom }: BuildFacts, of: Pick<KnownBase, 'repository' | 'tags'>): KnownBase {
  return {
    ...of,
    digest,
    platforms: platforms.map(({ platform, digest, diffIds, settings }) => ({
      platform,
      digest,
      ...defined({ layers: layerChain(diffIds), settings: settings && fingerprintOf(settings) }),
    })),
    ...defined({ builtFrom }),
  };
}

function layerChain(diffIds: readonly string[] = []): LayerChain | undefined {
  const [chain, first, last] = [chainsOf(diffIds).at(-1), firstWithFiles(diffIds), diffIds.at(-1)];
  return chain === undefined || first === undefined || last === undefined ? undefined : { count: diffIds.length, chain, first, last };
}

/** The ChainIDs of the lowest layer, of the lowest two layers, and so on. */
export function chainsOf(diffIds: readonly string[]): readonly string[] {
  const chains: string[] = [];
  for (const diffId of diffIds) {
    const below = chains.at(-1);
    chains.push(below === undefined ? diffId : `sha256:${hash('sha256', `${below} ${diffId}`)}`);
  }
  return chains;
}

/** The lowest layer that has files. */
export function firstWithFiles(diffIds: readonly string[]): string | undefined {
  return diffIds.find((layer) => !emptyLayers.has(layer));
}
