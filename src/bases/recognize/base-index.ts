/** The known versions of a base, by what an image may have of them: layers, digests and names. A base may have thousands of versions. */
import { inSlices } from '../../core/async/in-parallel.ts';
import { withVariant } from '../../core/select/missing-platforms.ts';
import { maxPlatforms, type NamedBase } from './facts.ts';
import type { KnownBase, KnownPlatform } from './layers.ts';
import { closestBase, inheritsOther, type Settings } from './settings.ts';

/** The image of one platform: `chains` as `chainsOf` returns them, `first` as `firstWithFiles` does. Absent: what cannot be read. */
export interface ImageLayers {
  readonly platform: string;
  readonly chains?: readonly string[] | undefined;
  readonly first?: string | undefined;
  readonly settings?: Settings | undefined;
}

/** A version that an image begins with, and how many layers that are. */
export interface FoundBase {
  readonly base: KnownBase;
  readonly layers: number;
}

/** The image of a version for one platform. */
export interface FoundPlatform {
  readonly base: KnownBase;
  readonly image: KnownPlatform;
}

export interface BaseIndex {
  /** The versions in their order: among those with the same layers, the first is taken. */
  readonly known: readonly KnownBase[];
  readonly repositories: ReadonlySet<string>;
  /** The place of a version in the order; after all others if it is not known. */
  readonly placeOf: (digest: string) => number;
  /** Whether a digest is that of a version's index, or of any of its manifests. */
  readonly hasDigest: (digest: string) => boolean;
  /** The versions that a name denotes for a platform: by the digest of the index or of its manifest for the platform, or by the top layer. */
  readonly named: (named: NamedBase, platform: string) => readonly KnownBase[];
  /** The version with the most layers that the image begins with; of several with the same layers, the one whose settings the image has inherited. */
  readonly longest: (image: ImageLayers) => FoundBase | undefined;
  /** The selected version instead of `base` if it would change nothing of the image: it has the same layers, and nothing else that the image would inherit. */
  readonly selectedFor: (base: KnownBase, image: ImageLayers) => KnownBase;
  /** Whether there are versions with the same layers and other settings. */
  readonly isContested: boolean;
  /** The versions with the same layers as `longest`, but other settings, if there are several: one for each. They are compared once their settings are known. */
  readonly contested: (image: ImageLayers) => readonly FoundPlatform[];
  /** A version that has the lowest layer of the image, whatever comes above it. */
  readonly sharing: (image: ImageLayers) => KnownBase | undefined;
}

/** The maximum number of versions with the same layers whose settings are compared. */
const maxContested = 16;

/** The maximum number of images with the same layers that differ in platform or settings. Of those that do not differ, one is kept. */
const maxAlike = maxPlatforms * maxContested;
/** The maximum number of versions that a name denotes. */
const maxDenoted = 16;

/**
 * Makes an index of versions. `settings`: those of their images, by the digest of the manifest, as far as they are known; more may be added later. A base may have
 * thousands of versions, so the event loop goes on in between.
 */
export async function indexBases(
  known: readonly KnownBase[],
  signal: AbortSignal,
  settings: ReadonlyMap<string, Settings> = new Map(),
): Promise<BaseIndex> {
  const places = new Map(known.map(({ digest }, place) => [digest, place]));
  const [byDigest, byChain, byLast, byFirst] = [
    createLists<NamedEntry>(),
    createLists<LayersEntry>(),
    createLists<LayersEntry>(),
    createLists<LayersEntry>(),
  ];
  let isContested = false;
  // The digest of an index or of a single manifest stands for all platforms. It may also be a manifest of another version's index.
  for (const base of known) byDigest.add(base.digest, { base, sort: '' });
  await inSlices(known, signal, (base) => {
    // Whether an image of a base is compared depends on all platforms of the base.
    const platforms = new Set(base.platforms.map((image) => withVariant(image.platform)));
    const all = [...platforms].join(' ');
    for (const image of base.platforms) {
      const platform = withVariant(image.platform);
      const { digest, layers } = image;
      byDigest.add(digest, { base, platform, sort: platform });
      if (layers === undefined) continue;
      const [same] = byChain.get(layers.chain);
      isContested ||= same !== undefined && settingsKey(same.image) !== settingsKey(image);
      const entry = { base, image, platform, platforms };
      byChain.add(layers.chain, { ...entry, sort: `${settingsKey(image)} ${platform} ${all}` });
      byLast.add(layers.last, { ...entry, sort: `${layers.chain} ${platform}` });
      byFirst.add(layers.first, { ...entry, sort: `${platform} ${all}` });
    }
  });
  const sameLayers = ({ platform, chains = [] }: ImageLayers): readonly FoundPlatform[] => {
    const wanted = withVariant(platform);
    for (let layers = chains.length; layers > 0; layers--) {
      const found = byChain.get(chains[layers - 1]).filter((one) => compares(one, wanted));
      if (found.length > 0) return found;
    }
    return [];
  };
  return {
    known,
    repositories: new Set(known.map(({ repository }) => repository)),
    placeOf: (digest) => places.get(digest) ?? known.length,
    hasDigest: (digest) => byDigest.get(digest).length > 0,
    named({ digest, topLayer }, platform) {
      const wanted = withVariant(platform);
      const found = [
        ...byDigest.get(digest).filter((one) => one.platform === undefined || one.platform === wanted),
        ...byLast.get(topLayer).filter((one) => one.platform === wanted),
      ];
      return [...new Set(found.map(({ base }) => base))].slice(0, maxDenoted);
    },
    longest(image) {
      const found = sameLayers(image);
      const closest = image.settings && closestBase(image.settings, onePerSettings(found), (one) => settings.get(one.image.digest));
      const { base, image: { layers } = {} } = closest ?? found[0] ?? {};
      return base === undefined || layers === undefined ? undefined : { base, layers: layers.count };
    },
    isContested,
    contested: (image) => onePerSettings(sameLayers(image)),
    selectedFor(base, { platform, settings: own }) {
      const [selected = base] = known;
      const before = comparedImages(base, platform);
      const isUnchanged = (after: KnownPlatform) =>
        before.some((image) => {
          if (image.digest === after.digest) return true;
          if (image.layers === undefined || image.layers.chain !== after.layers?.chain) return false;
          if (image.settings !== undefined && image.settings === after.settings) return true;
          const [old, next] = [settings.get(image.digest), settings.get(after.digest)];
          return own !== undefined && old !== undefined && next !== undefined && !inheritsOther(own, old, next);
        });
      return comparedImages(selected, platform).some(isUnchanged) ? selected : base;
    },
    sharing({ platform, first }) {
      const wanted = withVariant(platform);
      return byFirst.get(first).find((one) => compares(one, wanted))?.base;
    },
  };
}

/** A version. Those of the same sort give the same result. */
interface Entry {
  readonly base: KnownBase;
  readonly sort: string;
}

/** The digest of an index has no platform. */
interface NamedEntry extends Entry {
  readonly platform?: string;
}

interface LayersEntry extends Entry {
  readonly image: KnownPlatform;
  readonly platform: string;
  /** All platforms of the base. */
  readonly platforms: ReadonlySet<string>;
}

/** Lists by a key, each with the first entry of each sort. */
function createLists<E extends Entry>() {
  const lists = new Map<string, E[]>();
  return {
    get: (key: string | undefined): readonly E[] => (key === undefined ? [] : (lists.get(key) ?? [])),
    add(key: string, entry: E) {
      const list = lists.get(key);
      if (list === undefined) lists.set(key, [entry]);
      else if (list.length < maxAlike && list.every(({ sort }) => sort !== entry.sort)) list.push(entry);
    },
  };
}

/** Whether the image of a base is compared with images of a platform. A base for one platform may be used on others if its files do not depend on it. */
function compares({ platform, platforms }: LayersEntry, wanted: string): boolean {
  return platform === wanted || !platforms.has(wanted);
}

/** What stands for the settings of an image: those of another image are other ones if they are not known. */
function settingsKey({ settings, digest }: KnownPlatform): string {
  return settings ?? digest;
}

/** The first image with each of several settings; none if all have the same. */
function onePerSettings(found: readonly FoundPlatform[]): readonly FoundPlatform[] {
  const different = new Map<string, FoundPlatform>();
  for (const one of found) {
    const key = settingsKey(one.image);
    if (!different.has(key)) different.set(key, one);
  }
  return different.size < 2 ? [] : [...different.values()].slice(0, maxContested);
}

/** The images of a base for a platform: one, or several for versions of Windows. */
export function imagesFor({ platforms }: KnownBase, platform: string): readonly KnownPlatform[] {
  const wanted = withVariant(platform);
  return platforms.filter((image) => withVariant(image.platform) === wanted);
}

/**
 * How many layers of a base an image begins with, if it begins with all of them; otherwise 0. Undefined if they cannot be compared, because the layers of one of
 * the two are not known, or those of the base contain no file.
 */
export function countBaseLayers(base: KnownBase, { platform, chains }: ImageLayers): number | undefined {
  const own = comparedImages(base, platform).flatMap(({ layers }) => layers ?? []);
  if (chains === undefined || own.length === 0) return undefined;
  return Math.max(0, ...own.filter(({ count, chain }) => chains[count - 1] === chain).map(({ count }) => count));
}

function comparedImages(base: KnownBase, platform: string): readonly KnownPlatform[] {
  const own = imagesFor(base, platform);
  return own.length > 0 ? own : base.platforms;
}
