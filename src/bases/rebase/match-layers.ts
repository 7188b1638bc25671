/** Which base an application is built on: on each platform, its layers begin with all layers of the base. */
import { formatRepository } from '../../core/model/image-reference.ts';
import { withVariant } from '../../core/select/missing-platforms.ts';
import type { Descriptor, ImageContent, PlatformContent } from './content.ts';
import type { Bases } from './merge-config.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';

/** The old base of an application, and the images of each of its platforms. */
export interface MatchedBase {
  readonly oldBase: ImageContent;
  readonly images: readonly Bases<PlatformContent>[];
}

/** The one of the old bases with the most layers that fit; `current` if the new base fits as well, and has as many. */
export function matchBases(
  application: ImageContent,
  oldBases: readonly ImageContent[],
  newBase: ImageContent,
): MatchedBase | { readonly kind: 'current' } | Refusal {
  const matches = oldBases.map((base) => ({ base, match: matchBase(application, base) }));
  const fitting = matches.flatMap(({ base, match }) => (isRefusal(match) ? [] : [{ base, ...match }]));
  const best = fitting.toSorted((one, other) => other.count - one.count)[0];
  const current = matchBase(application, newBase);
  if (!isRefusal(current) && current.count >= (best?.count ?? 0)) return { kind: 'current' };
  if (best === undefined) {
    const refusals = matches.map(({ match }) => match).filter(isRefusal);
    return refusals.length === 1 && refusals[0] !== undefined ? refusals[0] : noneFits(application, oldBases, refusals);
  }
  const images: Bases<PlatformContent>[] = [];
  for (const [index, image] of application.platforms.entries()) {
    const oldBase = best.platforms[index];
    const next = oldBase && imageOfNewBase(image, oldBase, newBase);
    if (oldBase === undefined || next === undefined) return missing(newBase, image);
    if (isRefusal(next)) return next;
    images.push({ application: image, oldBase, newBase: next });
  }
  return { oldBase: best.base, images };
}

function noneFits(application: ImageContent, oldBases: readonly ImageContent[], refusals: readonly Refusal[]): Refusal {
  const names = oldBases.slice(0, 3).map(nameOf).join(', ');
  const others = oldBases.length > 3 ? ` and ${oldBases.length - 3} others` : '';
  const why = refusals[0] ? `: ${refusals[0].message}` : '';
  return refuse(
    'LayersDiffer',
    `${nameOf(application)} is built on none of ${oldBases.length} versions of the base (${names}${others})${why}`,
  );
}

/** The images of a base for the platforms of an application, in their order, and how many layers fit. */
function matchBase(
  application: ImageContent,
  base: ImageContent,
): { readonly platforms: readonly PlatformContent[]; readonly count: number } | Refusal {
  const platforms: PlatformContent[] = [];
  let count = 0;
  for (const image of application.platforms) {
    const candidates = imagesFor(base, image);
    if (candidates.length === 0) return missing(base, image);
    const foreign = [...candidates, image].find(({ manifest }) => manifest.layers.some(isForeign));
    if (foreign !== undefined)
      return refuse('ForeignLayers', `layers of ${foreign === image ? nameOf(application) : nameOf(base)} are not in its registry`);
    const [fitting] = candidates
      .filter((candidate) => beginsWith(image, candidate))
      .toSorted((a, b) => b.manifest.layers.length - a.manifest.layers.length);
    if (fitting === undefined) {
      const [shown] = candidates;
      const isRecompressed = shown !== undefined && hasDiffIdsOf(image, shown);
      const how = isRecompressed ? 'the same files, but compressed in another way' : 'other files';
      return refuse(
        'LayersDiffer',
        `the layers of ${nameOf(application)} for ${image.platform} do not begin with those of ${nameOf(base)}: they have ${how}`,
      );
    }
    platforms.push(fitting);
    count += fitting.manifest.layers.length;
  }
  return { platforms, count };
}

/** The images of a base for a platform: one, or several for versions of Windows. */
function imagesFor({ platforms }: ImageContent, { platform }: PlatformContent): PlatformContent[] {
  return platforms.filter((one) => withVariant(one.platform) === withVariant(platform));
}

function imageOfNewBase(image: PlatformContent, oldBase: PlatformContent, newBase: ImageContent): PlatformContent | Refusal {
  const candidates = imagesFor(newBase, image);
  const version = oldBase.config['os.version'];
  const [next, ...others] = candidates.length > 1 ? candidates.filter(({ config }) => config['os.version'] === version) : candidates;
  if (next === undefined) return missing(newBase, image);
  if (others.length > 0) return refuse('PlatformMissing', `${nameOf(newBase)} has several images for ${image.platform}`);
  if (next.manifest.layers.some(isForeign)) return refuse('ForeignLayers', `layers of ${nameOf(newBase)} are not in its registry`);
  return next;
}

function missing(base: ImageContent, { platform }: PlatformContent): Refusal {
  return refuse('PlatformMissing', `${nameOf(base)} has no image for ${platform}`);
}

function beginsWith(image: PlatformContent, base: PlatformContent): boolean {
  const { layers } = base.manifest;
  // Every image begins with no layers.
  return (
    layers.length > 0 && hasDiffIdsOf(image, base) && layers.every(({ digest }, index) => image.manifest.layers[index]?.digest === digest)
  );
}

function hasDiffIdsOf(image: PlatformContent, base: PlatformContent): boolean {
  return base.config.rootfs.diff_ids.every((id, index) => image.config.rootfs.diff_ids[index] === id);
}

/** Layers of Windows that only Microsoft may distribute. */
function isForeign({ mediaType, urls }: Descriptor): boolean {
  return /foreign|nondistributable/.test(mediaType) || (urls?.length ?? 0) > 0;
}

/** `harbor.example.com/library/base-java:21`. */
export function nameOf({ repository, tag, digest }: ImageContent): string {
  return `${formatRepository(repository)}${tag === undefined ? `@${digest}` : `:${tag}`}`;
}
