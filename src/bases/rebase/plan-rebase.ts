/** Plans an image on another base: new manifests and configurations, made of those of the application and of its old and new base. Pure. */
import { hash } from 'node:crypto';
import { formatRepository, tryParseImageReference } from '../../core/model/image-reference.ts';
import { originAnnotation, originTag } from '../../core/model/rebased-tag.ts';
import type { NewManifest } from '../../service/registry/push.ts';
import { matchBases, nameOf } from './match-layers.ts';
import { type Descriptor, type ImageContent, maxLayers, type PlatformContent, type Texts } from './content.ts';
import { convertLayers, isDockerType } from './layer-types.ts';
import { type Bases, fitsLayers, latest, mergeConfig } from './merge-config.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';
import { rules } from './rules/index.ts';
import type { BaseChange, Signatures } from './rules/rule.ts';
import { maxJsonBytes, parseBoundedJson } from '../../core/model/bounded-json.ts';

export interface RebaseRequest {
  readonly application: ImageContent;
  /** The versions of the base that the application may be built on. The one with the most layers that fit is used. */
  readonly oldBases: readonly ImageContent[];
  readonly newBase: ImageContent;
  /** All tags that versions of the base have or had, by their digests, as far as they are known. */
  readonly baseTags?: BaseTags | undefined;
  /** Names of rules to skip. */
  readonly allow: readonly string[];
  readonly signatures: Signatures;
}

/** All tags of images, by their digests. */
export type BaseTags = ReadonlyMap<string, readonly string[]>;

/** What a rebase writes. Contents are in the order in which they must be pushed. */
export interface RebasePlan {
  readonly kind: 'plan';
  readonly oldBase: ImageContent;
  readonly platforms: readonly string[];
  /** The manifests in the index of the new base that the platforms are built on. */
  readonly baseManifests: readonly string[];
  /** The layers of the new base, each once. */
  readonly layers: readonly Descriptor[];
  readonly configs: readonly Buffer[];
  /** The manifests of the platforms and, if the application has one, the index. The last one is the image. */
  readonly manifests: readonly NewManifest[];
  readonly image: PlannedImage;
  /** What users should know about the result. */
  readonly notes: readonly string[];
}

export interface PlannedImage {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  /** The creation time of the image, RFC 3339. Absent if neither the application nor the base has a credible one. */
  readonly created?: string | undefined;
}

/** The result for an application that is built on the new base already. */
export interface AlreadyCurrent {
  readonly kind: 'current';
}

const ociName = 'org.opencontainers.image.base.name';
const ociDigest = 'org.opencontainers.image.base.digest';
const ociCreated = 'org.opencontainers.image.created';
const buildpacks = 'io.buildpacks.lifecycle.metadata';
/** The maximum size of a document of the result, because readers of images refuse larger ones. */
const maxBytes = maxJsonBytes;

/** Plans a rebase. The same request always has the same result, byte by byte. */
export function planRebase(request: RebaseRequest): RebasePlan | AlreadyCurrent | Refusal {
  const { application, newBase } = request;
  if (newBase.repository.registry !== application.repository.registry) {
    return refuse('LayersElsewhere', `${nameOf(newBase)} is in another registry than ${nameOf(application)}: mirror the base there`);
  }
  const found = matchBases(application, request.oldBases, newBase);
  if ('kind' in found) return found;
  const { oldBase, images } = found;
  const violated = checkRules(images, { ...request, oldBase });
  if (violated !== undefined) return violated;

  const texts = {
    origin: `${formatRepository(application.repository)}@${application.digest}`,
    ...describeBase(newBase),
    isBetween: namesAnother(application, oldBase),
  };
  const platforms: PlannedPlatform[] = [];
  for (const one of images) {
    const planned = planPlatform(one, texts);
    if (isRefusal(planned)) return planned;
    platforms.push(planned);
  }
  const top = application.index === undefined ? [] : [planIndex(application, platforms, texts)];
  const manifests = [...platforms.map(({ manifest }) => manifest), ...top];
  const image = manifests.at(-1);
  if (
    image === undefined ||
    manifests.some(({ bytes }) => bytes.length > maxBytes) ||
    platforms.some(({ config }) => config.length > maxBytes)
  ) {
    return refuse('TooLarge', `a manifest or a configuration would have more than ${maxBytes} bytes`);
  }
  const layers = new Map(platforms.flatMap((one) => one.baseLayers).map((layer) => [layer.digest, layer]));
  return {
    kind: 'plan',
    oldBase,
    platforms: application.platforms.map(({ platform }) => platform),
    baseManifests: images.flatMap((one) => one.newBase.entry?.digest ?? []),
    layers: [...layers.values()],
    configs: platforms.map(({ config }) => config),
    manifests,
    image: { ...contentOf(image), created: platforms.map(({ created }) => created).reduce(latest) },
    notes: notesOn(application, images),
  };
}

function checkRules(
  images: readonly Bases<PlatformContent>[],
  request: RebaseRequest & { readonly oldBase: ImageContent },
): Refusal | undefined {
  const { allow, signatures, oldBase, newBase, baseTags } = request;
  const allTags = ({ digest }: ImageContent) => (baseTags?.get(digest) ?? []).map(originTag);
  const tags = { oldBase: versionOf(oldBase), newBase: versionOf(newBase), ofOldBase: allTags(oldBase), ofNewBase: allTags(newBase) };
  const violated = new Map<string, { readonly why: string; readonly rule: string }>();
  for (const one of images) {
    const { files: before } = one.oldBase;
    const { files: after } = one.newBase;
    const files = before && after && { oldBase: before, newBase: after };
    const change: BaseChange = { ...one, files, tags, signatures };
    for (const { id, check } of rules) {
      const why = allow.includes(id) ? undefined : check(change);
      if (why !== undefined && !violated.has(id)) violated.set(id, { rule: id, why });
    }
  }
  const [first, ...others] = violated.values();
  if (first === undefined) return undefined;
  const all = [first, ...others];
  const message = all.map(({ why, rule }) => `${why} (${rule})`).join('; ');
  return { kind: 'refused', reason: first.rule, message, rules: all.map(({ rule }) => rule) };
}

/** The tag as the rules compare it: a base that was rebased itself has the version that it had before. */
function versionOf({ tag }: ImageContent): string | undefined {
  return tag === undefined ? undefined : originTag(tag);
}

interface RebaseTexts {
  readonly origin: string;
  readonly name: string;
  readonly digest: string;
  /** Whether the application names another base, which is built on this one: it stays on that one's layers, and goes on to name it. */
  readonly isBetween: boolean;
}

function namesOf({ name, digest, isBetween }: Omit<RebaseTexts, 'origin'>): Texts {
  return isBetween ? {} : { [ociName]: name, [ociDigest]: digest };
}

/** Whether the application itself names another image than its old base. Labels that it has inherited from the old base are that one's. */
function namesAnother({ index, platforms }: ImageContent, oldBase: ImageContent): boolean {
  const digests = new Set([oldBase.digest, ...oldBase.platforms.map(({ entry }) => entry?.digest)]);
  const inherited = new Set(oldBase.platforms.map(({ config }) => config.config?.Labels?.[ociName]));
  const texts = [
    index?.annotations,
    ...platforms.flatMap(({ entry, manifest, config }) => [entry?.annotations, manifest.annotations, config.config?.Labels]),
  ];
  return texts.some((one) => {
    const [name, digest] = [one?.[ociName], one?.[ociDigest]];
    const named = name === undefined || inherited.has(name) ? undefined : tryParseImageReference(name);
    return (
      named !== undefined &&
      digest !== undefined &&
      !digests.has(digest) &&
      formatRepository(named.repository) !== formatRepository(oldBase.repository)
    );
  });
}

function describeBase({ repository, tag, digest }: ImageContent): Pick<RebaseTexts, 'name' | 'digest'> {
  return { name: `${formatRepository(repository)}${tag === undefined ? '' : `:${tag}`}`, digest };
}

interface PlannedPlatform {
  readonly application: PlatformContent;
  readonly baseLayers: readonly Descriptor[];
  readonly config: Buffer;
  readonly manifest: NewManifest;
  readonly created: string | undefined;
}

function planPlatform(images: Bases<PlatformContent>, texts: RebaseTexts): PlannedPlatform | Refusal {
  const { application, oldBase, newBase } = images;
  const { manifest, mediaType } = application;
  const isDocker = isDockerType(mediaType);
  const baseLayers = convertLayers(newBase.manifest.layers, isDockerType(newBase.mediaType), isDocker);
  if (isRefusal(baseLayers)) return baseLayers;
  const layers = [...baseLayers, ...manifest.layers.slice(oldBase.manifest.layers.length)];
  if (layers.length > maxLayers)
    return refuse('TooLarge', `the image would have ${layers.length} layers; at most ${maxLayers} can be mounted`);
  const merged = mergeConfig(images, labelsFor(images, isDocker, texts));
  const config = Buffer.from(JSON.stringify(merged));
  const { subject: _, ...kept } = manifest;
  const annotations = isDocker ? manifest.annotations : { ...manifest.annotations, ...annotationsOf(texts, merged.created) };
  const document = {
    ...kept,
    config: { ...manifest.config, ...embedsNothing, digest: digestOf(config), size: config.length },
    layers,
    ...(annotations && { annotations }),
  };
  const bytes = Buffer.from(JSON.stringify(document));
  return { application, baseLayers, config, manifest: { mediaType, bytes }, created: merged.created };
}

function annotationsOf({ origin, ...base }: RebaseTexts, created: string | undefined): Texts {
  return { ...(created !== undefined && { [ociCreated]: created }), ...namesOf(base), [originAnnotation]: origin };
}

/** The labels of the result. Docker's manifests have no annotations, so labels replace them. Labels that named the old base name the new one. */
function labelsFor({ application, newBase }: Bases<PlatformContent>, isDocker: boolean, { origin, ...base }: RebaseTexts): Texts {
  const known = application.config.config?.Labels ?? {};
  const isNamed = isDocker || known[ociName] !== undefined || known[ociDigest] !== undefined;
  const metadata =
    known[buildpacks] === undefined
      ? undefined
      : rewriteBuildpacks(known[buildpacks], newBase, `${base.name.replace(/:[^/]*$/, '')}@${base.digest}`);
  return {
    ...(isNamed && namesOf(base)),
    ...(isDocker && { [originAnnotation]: origin }),
    ...(metadata !== undefined && { [buildpacks]: metadata }),
  };
}

/** The label of Cloud Native Buildpacks with the new run image, as `pack rebase` writes it. */
function rewriteBuildpacks(label: string, { config }: PlatformContent, reference: string): string | undefined {
  try {
    const metadata: unknown = parseBoundedJson(label);
    if (typeof metadata !== 'object' || metadata === null || !('runImage' in metadata)) return undefined;
    const { runImage } = metadata;
    const topLayer = config.rootfs.diff_ids.at(-1);
    return JSON.stringify({ ...metadata, runImage: { ...(typeof runImage === 'object' && runImage), topLayer, reference } });
  } catch {
    // The text is not the label of Cloud Native Buildpacks.
    return undefined;
  }
}

/** A descriptor may repeat its content in `data`: https://github.com/opencontainers/image-spec/blob/main/descriptor.md. That of another digest must not stay. */
const embedsNothing = { data: undefined } as const;

function planIndex(application: ImageContent, platforms: readonly PlannedPlatform[], texts: RebaseTexts): NewManifest {
  const { index, mediaType } = application;
  const manifests = platforms.map(({ application: { entry }, manifest, created }) => {
    const { annotations, ...kept } = entry ?? {};
    const own = Object.entries(annotations ?? {}).filter(([name]) => !name.startsWith('vnd.docker.reference.'));
    const changed = annotationsOf(texts, created);
    const named = Object.fromEntries(own.map(([name, value]) => [name, changed[name] ?? value]));
    return { ...kept, ...embedsNothing, ...contentOf(manifest), ...(own.length > 0 && { annotations: named }) };
  });
  const created = platforms.map((one) => one.created).reduce(latest);
  const annotations = isDockerType(mediaType) ? index?.annotations : { ...index?.annotations, ...annotationsOf(texts, created) };
  const { subject: _, ...kept } = { subject: undefined, ...index };
  const document = { ...kept, schemaVersion: 2, manifests, ...(annotations && { annotations }) };
  return { mediaType, bytes: Buffer.from(JSON.stringify(document)) };
}

/** The descriptor of a manifest. */
function contentOf({ mediaType, bytes }: NewManifest): Omit<PlannedImage, 'created'> {
  return { mediaType, digest: digestOf(bytes), size: bytes.length };
}

function digestOf(bytes: Buffer): string {
  return `sha256:${hash('sha256', bytes, 'hex')}`;
}

function notesOn({ otherEntries, platforms }: ImageContent, images: readonly Bases<PlatformContent>[]): string[] {
  const withoutHistory = images.filter(({ application: { config } }) => (config.history?.length ?? 0) > 0 && !fitsLayers(config));
  return [
    ...(otherEntries > 0
      ? [`${otherEntries} attestations or other entries of the index are left out: they describe the image before`]
      : []),
    ...(withoutHistory.length > 0
      ? [`the history is left out for ${withoutHistory.length} of ${platforms.length} platforms: it does not fit the layers`]
      : []),
  ];
}
