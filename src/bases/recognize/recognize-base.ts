/** Recognizes the base of an image. Names of bases are untrusted, because the author of the image writes them. Only layers are a proof. */
import { defined } from '../../core/model/defined.ts';
import { type BaseIndex, countBaseLayers, type ImageLayers, imagesFor } from './base-index.ts';
import type { BuildFacts, NamedBase, PlatformFacts, RecognizedBy } from './facts.ts';
import { chainsOf, firstWithFiles, type KnownBase } from './layers.ts';
import type { Line } from './line.ts';

/** The base that an image is built on. */
export interface RecognizedBase {
  readonly repository: string;
  /** The digest of the known base. If the base is not known, the digest that the image names. */
  readonly digest: string;
  /** The tags that the base has or had. If none is known, the tag that the image names. */
  readonly tags: readonly string[];
}

/** What is known about the base of an image. */
export type Recognition =
  /** The base is recognized. `reason` says what limits that, such as another base on another platform. */
  | { readonly kind: 'recognized'; readonly base: RecognizedBase; readonly by: RecognizedBy; readonly reason?: string | undefined }
  /** The image may be built on the base. */
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'unrelated' };

/**
 * The relation of an image to the selected version of its base, as in the status of a policy. OtherLine: it is built on a version that the policy does not mean,
 * such as 21.0.1-alpine where 21.0.2 is selected.
 */
export type BaseState = 'Current' | 'Behind' | 'OtherLine' | 'Unknown';

/** What images are compared with. */
export interface Standard {
  /** The digest of the selected version. */
  readonly digest: string;
  readonly line: Line;
}

/** What is known about the base of an image, and its state; undefined for an unrelated image. */
export interface Judged {
  readonly recognition: Recognition;
  readonly state: BaseState | undefined;
}

/** The facts about one platform of an image, with its layers as they are compared. */
type PlatformImage = PlatformFacts & ImageLayers;

/** The result for one platform. It is `contradicted` if the image names a base that its layers disprove. */
type PlatformResult = Recognition | { readonly kind: 'contradicted'; readonly reason: string };
type OnPlatform = PlatformResult & { readonly platform: string };

/**
 * Recognizes which of the known bases an image is built on. `index`: versions of one base, the selected one first, then those of its line, the newest first, then
 * all others. Of an image whose platforms are built on different versions, the last one in this order is reported.
 * ```
 *  for each platform                                                         is built on
 *  a named, known base whose layers it begins with, unless a longer fits   → it, by what names it
 *  otherwise the longest known base whose layers it begins with            → it, by Layers
 *  otherwise a named, known base whose layers it does not begin with       → unknown: layers contradict what the image names
 *  otherwise a version of this base that cannot be compared                → it, without proof; unknown if only provenance names it
 *  otherwise this base, named without a digest                             → unknown
 *  otherwise only the lowest layers of a version                           → unknown: it may be built on a version that is not known
 *  otherwise layers that are not known, or no image at all                 → unknown
 *  otherwise                                                               → unrelated
 * ```
 * A contradiction on one platform makes the whole image unknown; otherwise one recognized platform is enough.
 */
export function recognizeBase({ platforms }: BuildFacts, index: BaseIndex): Recognition {
  if (platforms.length === 0) return { kind: 'unknown', reason: 'it has no image of a known kind for any platform' };
  const results = platforms.map((facts): OnPlatform => {
    const { diffIds } = facts;
    const layers = diffIds && { chains: chainsOf(diffIds), ...defined({ first: firstWithFiles(diffIds) }) };
    return { platform: facts.platform, ...recognizePlatform({ ...facts, ...layers }, index) };
  });
  const contradicted = results.find((result) => result.kind === 'contradicted');
  if (contradicted !== undefined) return { kind: 'unknown', reason: describe(contradicted, results) };
  const recognized = results.filter((result) => result.kind === 'recognized');
  const [oldest] = recognized.toSorted((one, other) => index.placeOf(other.base.digest) - index.placeOf(one.base.digest));
  const unknown = results.find((result) => result.kind === 'unknown');
  if (oldest === undefined) return unknown ? { kind: 'unknown', reason: describe(unknown, results) } : { kind: 'unrelated' };
  const isSame = (result: OnPlatform) => result.kind === 'recognized' && result.base.digest === oldest.base.digest;
  const limits = [...(oldest.reason === undefined ? [] : [oldest]), ...results.filter((result) => !isSame(result))];
  const reason = limits.map((result) => describe(result, results)).join('; ');
  return { kind: 'recognized', base: oldest.base, by: oldest.by, ...(reason !== '' && { reason }) };
}

/** Whether an image is built on the selected version of the base, on an older one, or on one of another line. */
export function judge(recognition: Recognition, { digest, line }: Standard): Judged {
  if (recognition.kind === 'unrelated') return { recognition, state: undefined };
  if (recognition.kind === 'unknown') return { recognition, state: 'Unknown' };
  const { base } = recognition;
  if (base.digest === digest) return { recognition, state: 'Current' };
  const because = (reason: string) => ({ ...recognition, reason: recognition.reason ?? reason });
  switch (line.relationOf(base)) {
    case 'older':
      return { recognition, state: 'Behind' };
    case 'newer':
      return { recognition: because(`it is built on ${formatBase(base)}, which is newer than the selected version`), state: 'Current' };
    case 'other':
      return {
        recognition: because(
          `it is built on ${formatBase(base)}, which is of another line than the selected version (${line.description})`,
        ),
        state: 'OtherLine',
      };
    case undefined: {
      const what = base.tags.length === 0 ? 'has no tag' : `is only known as ${base.tags.join(', ')}`;
      const reason = `it is built on ${base.digest}, which ${what}: whether it is older than the selected version (${line.description}) is not known; the field from of a BaseImagePolicy may say so`;
      return { recognition: { kind: 'unknown', reason }, state: 'Unknown' };
    }
  }
}

/** The maximum number of unknown versions that are read for an image. */
const maxUnknown = 8;

/**
 * The digests that an image names as its base and that are not known, if the repository is that of a known base. After they are read and added, the layers of
 * versions that have lost their tag can be compared.
 */
export function unknownBases({ platforms }: BuildFacts, index: Pick<BaseIndex, 'repositories' | 'hasDigest'>): string[] {
  const named = platforms.flatMap((image) => image.named).filter(({ repository = '' }) => index.repositories.has(repository));
  const digests = named.flatMap(({ digest }) => digest ?? []).filter((digest) => !index.hasDigest(digest));
  return [...new Set(digests)].slice(0, maxUnknown);
}

function recognizePlatform(image: PlatformImage, index: BaseIndex): PlatformResult {
  const named = image.named.flatMap((named) => index.named(named, image.platform).map((base) => ({ named, base })));
  const candidates = named.map((one) => ({ ...one, layers: countBaseLayers(one.base, image) }));
  const longest = index.longest(image);
  const proven = candidates.find(({ layers = 0 }) => layers > 0 && layers >= (longest?.layers ?? 0));
  if (proven !== undefined) return recognized(index.selectedFor(proven.base, image), proven.named.by, { named: proven.named });
  // A disproven name in provenance does not count: provenance lists the images of all stages of a build, most of which leave no layers in the result.
  const disproven = candidates.find(({ named, layers }) => layers === 0 && named.by !== 'Provenance');
  const reason = disproven && `${describeNamed(disproven.named)}, but its layers do not begin with those of that image`;
  if (longest !== undefined) return recognized(index.selectedFor(longest.base, image), 'Layers', defined({ reason }));
  if (disproven === undefined || reason === undefined) return recognizeUnproven(image, index);
  if (imagesFor(disproven.base, image.platform).length > 0) return { kind: 'contradicted', reason };
  return { kind: 'unknown', reason: `${describeNamed(disproven.named)}, which has no image for ${image.platform || 'its platform'}` };
}

/** Recognizes a base by what the image names alone, because its layers cannot be compared. */
function recognizeUnproven(image: PlatformImage, index: BaseIndex): Recognition {
  let reason: string | undefined;
  for (const named of image.named) {
    const { repository = '', digest, tag, by } = named;
    const [base] = index.named(named, image.platform);
    const isOtherStage = base !== undefined && countBaseLayers(base, image) === 0;
    const isOtherPlatform = base === undefined && digest !== undefined && index.hasDigest(digest);
    if (isOtherStage || isOtherPlatform || (base === undefined && !index.repositories.has(repository))) continue;
    const version = base ?? (digest === undefined ? undefined : { repository, digest, tags: tag === undefined ? [] : [tag] });
    if (version !== undefined && by !== 'Provenance')
      return recognized(version, by, { named, reason: `its layers cannot be compared with those of ${version.digest}` });
    reason ??= `${describeNamed(named)}, ${version === undefined ? 'without a digest' : 'with whose layers its own cannot be compared'}`;
  }
  const sharing = reason === undefined ? index.sharing(image) : undefined;
  if (sharing !== undefined)
    reason = `its lowest layer is that of ${formatBase(sharing)}, and no known version has all of those below its own: it may be built on a version that is not known`;
  if (image.chains === undefined) reason ??= 'its configuration does not show its layers';
  return reason === undefined ? { kind: 'unrelated' } : { kind: 'unknown', reason };
}

/** A base without a known tag has the one that the image names. */
function recognized(
  { repository, digest, tags }: RecognizedBase,
  by: RecognizedBy,
  { reason, named }: { readonly reason?: string; readonly named?: NamedBase } = {},
): Recognition {
  const known = tags.length === 0 && named?.tag !== undefined && named.repository === repository ? [named.tag] : tags;
  return { kind: 'recognized', base: { repository, digest, tags: known }, by, ...defined({ reason }) };
}

/** A base by its tag and digest, or its digest. */
function formatBase({ tags: [tag], digest }: Pick<KnownBase, 'tags' | 'digest'>): string {
  return tag === undefined ? digest : `${tag} (${digest})`;
}

const writers: Readonly<Record<NamedBase['by'], string>> = {
  Annotation: 'its annotation or label',
  Buildpacks: 'its buildpacks label',
  Provenance: 'its provenance or SBOM',
};

function describeNamed({ by, repository, tag, digest, topLayer }: NamedBase): string {
  const name = `${repository ?? ''}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
  return `${writers[by]} names ${name.replace(/^@/, '') || `an image with the last layer ${topLayer}`}`;
}

/** The reason of a result, with the platform if the image has several. */
function describe(result: OnPlatform, { length }: readonly OnPlatform[]): string {
  const reason = reasonOf(result);
  return length > 1 ? `${result.platform || 'an image without a platform'}: ${reason}` : reason;
}

function reasonOf(result: OnPlatform): string {
  if (result.kind === 'unrelated') return 'it is not built on this base';
  if (result.kind !== 'recognized') return result.reason;
  return result.reason ?? `it is built on ${formatBase(result.base)}`;
}
