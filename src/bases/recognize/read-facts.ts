/** Reads the facts about an image from its registry: its manifests and configurations, and its attestations if nothing else names a base. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { isAttestation, isManifestType, whyNotRunnable } from '../../core/model/artifact.ts';
import { maxJsonBytes } from '../../core/model/bounded-json.ts';
import { defined } from '../../core/model/defined.ts';
import { formatRepository, type RegistryAliases } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { originAnnotation } from '../../core/model/rebased-tag.ts';
import { type Descriptor, type ManifestDocument, parseImageConfig, parseManifest } from '../../service/registry/parse-manifest.ts';
import type { BuildRecords, Texts } from './evidence/evidence.ts';
import { readReference } from './evidence/evidence.ts';
import { evidence } from './evidence/index.ts';
import { type BuildFacts, maxNamed, maxPlatforms, platformPattern, sourcePattern, type NamedBase, type PlatformFacts } from './facts.ts';
import { type Settings, settingsOf } from './settings.ts';
import { listAttestations, readAttested } from './read-attestations.ts';

/** The parts of the registry client that reading facts needs. None of them caches. */
export interface FactsRegistry {
  readManifest(source: ImageSource, reference: string, signal?: AbortSignal): Promise<{ readonly bytes: Buffer } | undefined>;
  readBlob(source: ImageSource, digest: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer | undefined>;
  listReferrers(source: ImageSource, digest: string, artifactType?: string, signal?: AbortSignal): Promise<readonly Descriptor[]>;
}

export interface ReadContext {
  readonly registry: FactsRegistry;
  readonly source: ImageSource;
  readonly aliases: RegistryAliases;
  readonly signal: AbortSignal;
}

/** The image of one platform, before its attestations are read. */
interface ReadImage {
  readonly platform: string;
  readonly digest: string;
  readonly diffIds?: readonly string[] | undefined;
  readonly settings?: Settings | undefined;
  readonly records: BuildRecords;
}

const maxConfigBytes = maxJsonBytes;
const parallelReads = 4;

/**
 * Reads the facts about a digest; undefined for 404. `bytes`: its manifest or index, if that was read already. Costs one request for the index, two for each platform (at most 16), and, if neither annotations nor labels
 * identify a base, one for the list of referrers and a bounded number for attestations. Rejects as the registry client does.
 */
export async function readFacts(digest: string, context: ReadContext, bytes?: Buffer): Promise<BuildFacts | undefined> {
  const { registry, source, signal } = context;
  const manifest = bytes === undefined ? await registry.readManifest(source, digest, signal) : { bytes };
  if (manifest === undefined) return undefined;
  const document = parseManifest(manifest.bytes) ?? {};
  if (whyNotRunnable(document) !== undefined) return { digest, platforms: [] };
  const { manifests, annotations } = document;
  const entries = manifests?.filter(isImageEntry).slice(0, maxPlatforms);
  const read =
    entries === undefined
      ? [await readImage({ digest, document, outer: [] }, context)]
      : await readAll(entries, async (entry) => readEntry(entry, [annotations ?? {}], context));
  const images = read.filter((image) => image !== undefined);
  const platforms = await nameBases(images, { digest, attestations: manifests?.filter(isAttestation) ?? [] }, context);
  const builtFrom = images.map(findSource).find((found) => found !== undefined);
  const rebasedFrom = images.map(findOrigin).find((found) => found !== undefined);
  return { digest, platforms, ...defined({ rebasedFrom, builtFrom }) };
}

/** The annotation with the URL of the source. https://github.com/opencontainers/image-spec/blob/main/annotations.md */
const sourceKey = 'org.opencontainers.image.source';

function findSource({ records: { annotations, labels } }: ReadImage): string | undefined {
  return [...annotations, labels].map((texts) => texts[sourceKey]?.trim()).find((text) => text !== undefined && sourcePattern.test(text));
}

function findOrigin({ records: { annotations, labels, aliases } }: ReadImage): BuildFacts['rebasedFrom'] {
  const [origin] = [...annotations, labels].flatMap((texts) => readReference(texts[originAnnotation], aliases) ?? []);
  return origin?.repository === undefined || origin.digest === undefined
    ? undefined
    : { repository: origin.repository, digest: origin.digest };
}

function isImageEntry(entry: Descriptor): boolean {
  return !isAttestation(entry) && entry.artifactType === undefined && (entry.mediaType === undefined || isManifestType(entry.mediaType));
}

/** Calls `read` for several items at a time; rejects if one fails. */
async function readAll<T, R>(items: readonly T[], read: (item: T) => Promise<R>): Promise<R[]> {
  const results = await inParallel(items, parallelReads, read);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** The image of an entry of an index. Undefined for an index in an index, and if the registry does not have the image, like mirrors of some platforms only. */
async function readEntry(entry: Descriptor, outer: readonly Texts[], context: ReadContext): Promise<ReadImage | undefined> {
  const { digest, platform, annotations = {} } = entry;
  const manifest = await context.registry.readManifest(context.source, digest, context.signal);
  const document = manifest && parseManifest(manifest.bytes);
  if (document?.config === undefined || whyNotRunnable(document) !== undefined) return undefined;
  return readImage({ digest, document, platform, outer: [annotations, ...outer] }, context);
}

interface FoundManifest {
  readonly digest: string;
  readonly document: ManifestDocument;
  readonly platform?: Descriptor['platform'];
  /** The annotations of the entry and of the index. */
  readonly outer: readonly Texts[];
}

async function readImage({ digest, document, platform, outer }: FoundManifest, context: ReadContext): Promise<ReadImage> {
  const config = await readConfig(document.config, context);
  const annotations = [document.annotations ?? {}, ...outer];
  const records = { annotations, labels: config.config?.Labels ?? {}, statements: [], aliases: context.aliases };
  const settings = config.rootfs === undefined ? undefined : settingsOf(config.config);
  return { platform: formatPlatform(platform ?? config), digest, diffIds: config.rootfs?.diff_ids, ...defined({ settings }), records };
}

async function readConfig(config: Descriptor | undefined, context: ReadContext): Promise<ReturnType<typeof parseImageConfig>> {
  if (config === undefined || (config.size ?? 0) > maxConfigBytes) return {};
  const bytes = await context.registry.readBlob(context.source, config.digest, maxConfigBytes, context.signal);
  // Retried, because a registry accepts a manifest only after its configuration, so the configuration may appear soon.
  if (bytes === undefined)
    throw new Error(
      `reading an image of ${formatRepository(context.source)}: the registry does not have its configuration ${config.digest}`,
    );
  return parseImageConfig(bytes);
}

function formatPlatform({
  os,
  architecture,
  variant,
}: Pick<ReturnType<typeof parseImageConfig>, 'os' | 'architecture' | 'variant'>): string {
  const text = [os, architecture, ...(variant ? [variant] : [])].join('/');
  return os && architecture && platformPattern.test(text) ? text : '';
}

interface Attested {
  /** The digest whose referrers are listed. */
  readonly digest: string;
  /** The attestations of BuildKit, which are in the index. */
  readonly attestations: readonly Descriptor[];
}

/** Adds the bases that images name. Attestations are read only for images whose base nothing else identifies: those in the index, then the referrers. */
async function nameBases(images: readonly ReadImage[], { digest, attestations }: Attested, context: ReadContext): Promise<PlatformFacts[]> {
  const own = await readAll(images, async (image) => {
    const named = evidence.flatMap(({ find }) => find(image.records));
    if (named.some(identifies)) return { image, named };
    const ofImage = attestations.filter(({ annotations }) => annotations?.['vnd.docker.reference.digest'] === image.digest);
    return { image, named: [...named, ...(await readAttested(ofImage, image.digest, context))] };
  });
  const isOpen = own.some(({ named }) => !named.some(identifies));
  const ofAll = isOpen ? await readAttested(await listAttestations(digest, context), digest, context) : [];
  return own.map(({ image: { platform, digest, diffIds, settings }, named }) => {
    const all = named.some(identifies) ? named : [...named, ...ofAll];
    return { platform, digest, ...defined({ diffIds, settings }), named: all.slice(0, maxNamed) };
  });
}

function identifies({ digest, topLayer }: NamedBase): boolean {
  return digest !== undefined || topLayer !== undefined;
}
