/** Recognizes the base of an image. Everything that images name is written by their authors; only layers prove something. */
import type { BuildFacts, NamedBase, PlatformFacts, RecognizedBy } from './facts.ts';
import { countBaseLayers, imagesFor, type KnownBase } from './layers.ts';

/** The base that an image is built on. */
export interface RecognizedBase {
  readonly repository: string;
  /** The digest of the known base; if it is not known, the digest that the image names. */
  readonly digest: string;
  readonly tag?: string | undefined;
}

/** What is known about the base of an image. */
export type Recognition =
  /** `reason`: what limits it, such as another base on another platform. */
  | { readonly kind: 'recognized'; readonly base: RecognizedBase; readonly by: RecognizedBy; readonly reason?: string | undefined }
  /** It may be built on the base. */
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'unrelated' };

/** How an image relates to the selected version of its base, as in the status of a policy. */
export type BaseState = 'Current' | 'Behind' | 'Unknown';

/** The result for one platform. `contradicted`: the image names a base, and its layers disprove it. */
type PlatformResult = Recognition | { readonly kind: 'contradicted'; readonly reason: string };
type OnPlatform = PlatformResult & { readonly platform: string };

/**
 * Recognizes which of the known bases an image is built on. `known`: versions of one base, the selected one first, then the newest first: among versions with the
 * same layers the first is taken, and of an image whose platforms are built on different versions the last one is reported.
 * ```
 *  for each platform                                                         is built on
 *  a named, known base whose layers it begins with, unless a longer fits   → it, by what names it
 *  otherwise the longest known base whose layers it begins with            → it, by Layers
 *  otherwise a named, known base whose layers it does not begin with       → unknown: layers contradict what the image names
 *  otherwise a version of this base that cannot be compared                → it, without proof; unknown if only provenance names it
 *  otherwise this base, named without a digest                             → unknown
 *  otherwise                                                               → unrelated
 * ```
 * A contradiction on one platform makes the whole image unknown; otherwise one recognized platform is enough.
 */
export function recognizeBase({ platforms }: BuildFacts, known: readonly KnownBase[]): Recognition {
  const results = platforms.map((image): OnPlatform => ({ platform: image.platform, ...recognizePlatform(image, known) }));
  const contradicted = results.find((result) => result.kind === 'contradicted');
  if (contradicted !== undefined) return { kind: 'unknown', reason: describe(contradicted, results) };
  const ageOf = ({ digest }: RecognizedBase) => {
    const index = known.findIndex((base) => base.digest === digest);
    return index === -1 ? known.length : index;
  };
  const recognized = results.filter((result) => result.kind === 'recognized');
  const [oldest] = recognized.toSorted((one, other) => ageOf(other.base) - ageOf(one.base));
  const unknown = results.find((result) => result.kind === 'unknown');
  if (oldest === undefined) return unknown ? { kind: 'unknown', reason: describe(unknown, results) } : { kind: 'unrelated' };
  const isSame = (result: OnPlatform) => result.kind === 'recognized' && result.base.digest === oldest.base.digest;
  const limits = [...(oldest.reason === undefined ? [] : [oldest]), ...results.filter((result) => !isSame(result))];
  const reason = limits.map((result) => describe(result, results)).join('; ');
  return { kind: 'recognized', base: oldest.base, by: oldest.by, ...(reason !== '' && { reason }) };
}

/** Whether an image is built on the selected version of the base; undefined for an unrelated image. */
export function baseState(recognition: Recognition, selected: { readonly digest: string }): BaseState | undefined {
  if (recognition.kind === 'unrelated') return undefined;
  if (recognition.kind === 'unknown') return 'Unknown';
  return recognition.base.digest === selected.digest ? 'Current' : 'Behind';
}

/** At most so many unknown versions are read for an image. */
const maxUnknown = 8;

/**
 * The digests that an image names as its base and that are not known, if the repository is that of a known base. Once they are read from it and added, the
 * layers of versions that have lost their tag can be compared.
 */
export function unknownBases({ platforms }: BuildFacts, known: readonly KnownBase[]): string[] {
  const repositories = new Set(known.map(({ repository }) => repository));
  const named = platforms.flatMap((image) => image.named).filter(({ repository = '' }) => repositories.has(repository));
  const digests = named.flatMap(({ digest }) => digest ?? []).filter((digest) => !known.some((base) => hasDigest(base, digest)));
  return [...new Set(digests)].slice(0, maxUnknown);
}

/** Whether a digest is that of the base's index or of any of its manifests. */
function hasDigest({ digest, platforms }: KnownBase, wanted: string): boolean {
  return digest === wanted || platforms.some((image) => image.digest === wanted);
}

function recognizePlatform(image: PlatformFacts, known: readonly KnownBase[]): PlatformResult {
  const named = image.named.flatMap((named) => known.filter((base) => isNamed(base, named, image)).map((base) => ({ named, base })));
  const candidates = named.map((one) => ({ ...one, layers: countBaseLayers(one.base, image) }));
  const longest = longestBase(image, known);
  const proven = candidates.find(({ layers = 0 }) => layers > 0 && layers >= (longest?.layers ?? 0));
  if (proven !== undefined) return recognized(proven.base, proven.named.by);
  // Provenance lists the images of all stages of a build, most of which leave no layers in the result.
  const disproven = candidates.find(({ named, layers }) => layers === 0 && named.by !== 'Provenance');
  const reason = disproven && `${describeNamed(disproven.named)}, but its layers do not begin with those of that image`;
  if (longest !== undefined) return recognized(longest.base, 'Layers', reason);
  if (disproven === undefined || reason === undefined) return recognizeUnproven(image, known);
  if (imagesFor(disproven.base, image.platform).length > 0) return { kind: 'contradicted', reason };
  return { kind: 'unknown', reason: `${describeNamed(disproven.named)}, which has no image for ${image.platform || 'its platform'}` };
}

/** Recognizes a base by what the image names alone, because its layers cannot be compared. */
function recognizeUnproven(image: PlatformFacts, known: readonly KnownBase[]): Recognition {
  const repositories = new Set(known.map(({ repository }) => repository));
  let reason: string | undefined;
  for (const named of image.named) {
    const { repository = '', digest, tag, by } = named;
    const base = known.find((one) => isNamed(one, named, image));
    const isOtherStage = base !== undefined && countBaseLayers(base, image) === 0;
    const isOtherPlatform = base === undefined && digest !== undefined && known.some((one) => hasDigest(one, digest));
    if (isOtherStage || isOtherPlatform || (base === undefined && !repositories.has(repository))) continue;
    const version = base ?? (digest === undefined ? undefined : { repository, digest, tag });
    if (version !== undefined && by !== 'Provenance')
      return recognized(version, by, `its layers cannot be compared with those of ${version.digest}`);
    reason ??= `${describeNamed(named)}, ${version === undefined ? 'without a digest' : 'with whose layers its own cannot be compared'}`;
  }
  return reason === undefined ? { kind: 'unrelated' } : { kind: 'unknown', reason };
}

/** Whether a name means a base: by the digest of its index or of its manifest for the same platform, or by its last layer. */
function isNamed(base: KnownBase, { digest, topLayer }: NamedBase, { platform }: Pick<PlatformFacts, 'platform'>): boolean {
  if (digest === base.digest) return true;
  return imagesFor(base, platform).some(
    (image) => image.digest === digest || (topLayer !== undefined && image.diffIds?.at(-1) === topLayer),
  );
}

/** The known base with the most layers that the image begins with; the first of several. */
function longestBase(image: PlatformFacts, known: readonly KnownBase[]): { readonly base: KnownBase; readonly layers: number } | undefined {
  let longest: { base: KnownBase; layers: number } | undefined;
  for (const base of known) {
    const layers = countBaseLayers(base, image) ?? 0;
    if (layers > (longest?.layers ?? 0)) longest = { base, layers };
  }
  return longest;
}

function recognized({ repository, digest, tag }: RecognizedBase, by: RecognizedBy, reason?: string): Recognition {
  const base = { repository, digest, ...(tag !== undefined && { tag }) };
  return { kind: 'recognized', base, by, ...(reason !== undefined && { reason }) };
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

/** The reason of a result, with its platform if the image has several. */
function describe(result: OnPlatform, { length }: readonly OnPlatform[]): string {
  const reason = reasonOf(result);
  return length > 1 ? `${result.platform || 'an image without a platform'}: ${reason}` : reason;
}

function reasonOf(result: OnPlatform): string {
  if (result.kind === 'unrelated') return 'it is not built on this base';
  if (result.kind !== 'recognized') return result.reason;
  const { tag, digest } = result.base;
  return result.reason ?? `it is built on ${tag === undefined ? digest : `${tag} (${digest})`}`;
}
