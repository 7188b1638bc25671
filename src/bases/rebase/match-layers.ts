/** Finds the base that an application is built on: on each platform, its layers begin with all layers of the base. */
import { formatRepository } from '../../core/model/image-reference.ts';
import { withVariant } from '../../core/select/missing-platforms.ts';
import type { Descriptor, ImageContent, PlatformContent } from './content.ts';
import type { Bases } from './merge-config.ts';
import { closestBase, inheritsOther, type Settings, settingsOf } from '../recognize/settings.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';

/** The old base of an application, and the images of each of its platforms. */
export interface MatchedBase {
  readonly oldBase: ImageContent;
  readonly images: readonly Bases<PlatformContent>[];
}

/**
 * The old base with the most layers that fit; of several, the one whose settings the application has inherited. The result is `current` if the new base fits as
 * well, has as many layers, and no other settings that the application would inherit.
 */
export function matchBases(
  application: ImageContent,
  oldBases: readonly ImageContent[],
  newBase: ImageContent,
): MatchedBase | { readonly kind: 'current' } | Refusal {
  const matches = oldBases.map((base) => ({ base, match: matchBase(application, base) }));
  const fitting = matches.flatMap(({ base, match }) => (isRefusal(match) ? [] : [{ base, ...match }]));
  const current = matchBase(application, newBase);
  const most = Math.max(...fitting.map(({ count }) => count));
  const best = closestOf(
    application,
    fitting.filter(({ count }) => count === most),
  );
  if (!isRefusal(current) && (best === undefined || current.count >= most)) {
    const isMore = best === undefined || current.count > most;
    if (isMore || !hasOtherSettings(application, best.platforms, current.platforms)) return { kind: 'current' };
  }
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

interface FittingBase {
  readonly base: ImageContent;
  readonly platforms: readonly PlatformContent[];
}

/** The base with whose settings those of the application agree most, on the first platform where those of the bases differ. */
function closestOf<B extends FittingBase>(application: ImageContent, fitting: readonly B[]): B | undefined {
  const [first] = fitting;
  for (const [place, image] of application.platforms.entries()) {
    const closest = closestBase(settings(image), fitting, ({ platforms }) => settings(platforms[place]));
    if (closest !== first) return closest;
  }
  return first;
}

function hasOtherSettings({ platforms }: ImageContent, before: readonly PlatformContent[], after: readonly PlatformContent[]): boolean {
  return platforms.some((image, place) => inheritsOther(settings(image), settings(before[place]), settings(after[place])));
}

function settings(image: PlatformContent | undefined): Settings {
  return settingsOf(image?.config.config ?? {}) ?? {};
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
      const layers = `the layers of ${nameOf(application)} for ${image.platform}`;
      return refuse('LayersDiffer', `${layers} do not begin with those of ${nameOf(base)}: they have other files`);
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

/**
 * Whether an image has the uncompressed layers of a base, however its build has compressed them. A runtime that unpacks an image compares its layers with these
 * digests. A base without layers does not count, because every image begins with no layers.
 */
function beginsWith(image: PlatformContent, base: PlatformContent): boolean {
  const ids = base.config.rootfs.diff_ids;
  return ids.length > 0 && ids.every((id, index) => image.config.rootfs.diff_ids[index] === id);
}

/** Whether a layer is one of Windows that only Microsoft may distribute. */
function isForeign({ mediaType, urls }: Descriptor): boolean {
  return /foreign|nondistributable/.test(mediaType) || (urls?.length ?? 0) > 0;
}

/** The name of an image: `harbor.example.com/library/base-java:21`. */
export function nameOf({ repository, tag, digest }: ImageContent): string {
  return `${formatRepository(repository)}${tag === undefined ? `@${digest}` : `:${tag}`}`;
}
