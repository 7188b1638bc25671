/** Reads an image from its registry without its layers: its index, and the manifest and configuration of each platform. */
import { defined } from '../../core/model/defined.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import { isAttestation, isImageConfigType, isManifestType } from '../../core/model/artifact.ts';
import { formatRepository, isDigest } from '../../core/model/image-reference.ts';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';
import type { RegistryClient } from '../../service/registry/client.ts';
import {
  type Descriptor,
  formatPlatform,
  type ImageContent,
  maxPlatforms,
  parseConfig,
  parseIndex,
  parseManifest,
  type PlatformContent,
} from './content.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';

/** The parts of the registry client that reading needs. */
export type ContentRegistry = Pick<RegistryClient, 'readManifest' | 'readBlob'>;

/** An image in a registry, by tag or digest. */
export interface Located {
  readonly source: ImageSource;
  readonly reference: string;
  /** The tag of a reference by digest, if it is known. */
  readonly tag?: string | undefined;
}

/** Reads an image, like `readContent`. */
export type ReadContent = (located: Located, signal?: AbortSignal) => Promise<ImageContent | Refusal | undefined>;

const maxConfigBytes = 1024 * 1024;
/** The maximum size of the documents of all platforms together, so that an image cannot use up the memory. */
const maxTotalBytes = 16 * 1024 * 1024;
const parallelReads = 4;

/** The name of the image: `harbor.example.com/library/base-java:21`, or with `@sha256:…`. */
export function formatLocated({ source, reference }: Located): string {
  return `${formatRepository(source)}${isDigest(reference) ? '@' : ':'}${reference}`;
}

/** Reads an image. Undefined if the registry does not have it; rejects as the registry client does. */
export async function readContent(
  located: Located,
  registry: ContentRegistry,
  signal?: AbortSignal,
): Promise<ImageContent | Refusal | undefined> {
  const { source, reference, tag = isDigest(reference) ? undefined : reference } = located;
  const name = formatLocated(located);
  const top = await registry.readManifest(source, reference, signal);
  if (top === undefined) return undefined;
  const { registry: host, path } = source;
  const own = { repository: { registry: host, path }, tag, digest: top.digest, mediaType: top.mediaType };
  const index = parseIndex(top.bytes);
  if (index === undefined) {
    const image = await readPlatform({ name, ...top }, located, registry, signal);
    return isRefusal(image) ? image : { ...own, platforms: [image], otherEntries: 0 };
  }
  const entries = index.manifests.filter(isImageEntry);
  if (entries.length === 0) return refuse('NotAnImage', `${name} is an index without an image`);
  if (entries.length > maxPlatforms) {
    return refuse('TooLarge', `${name} has images for ${entries.length} platforms; at most ${maxPlatforms} are rebased`);
  }
  let total = 0;
  const results = await inParallel(entries, parallelReads, async (entry) => {
    const { digest } = entry;
    if (total > maxTotalBytes)
      return refuse('TooLarge', `the manifests and configurations of ${name} have more than ${maxTotalBytes} bytes`);
    const found = await registry.readManifest(source, digest, signal);
    if (found === undefined) return refuse('Unreadable', `the registry does not have ${digest}, which the index of ${name} contains`);
    const image = await readPlatform({ name: `${formatRepository(source)}@${digest}`, ...found, entry }, located, registry, signal);
    if (!isRefusal(image)) total += found.bytes.length + image.manifest.config.size;
    return image;
  });
  const platforms: PlatformContent[] = [];
  for (const result of results) {
    if (result.status === 'rejected') throw result.reason;
    if (isRefusal(result.value)) return result.value;
    platforms.push(result.value);
  }
  return { ...own, index, platforms, otherEntries: index.manifests.length - entries.length };
}

/** The number of images that a reader of bases remembers, each with configurations of at most `maxKeptBytes`. */
const maxKept = 32;
const maxKeptBytes = 256 * 1024;
const keptMs = 600_000;

/** A reader of images by digest that many applications have in common. What a digest names does not change, so each is read once in ten minutes with the same access. */
export function createBaseReader(registry: ContentRegistry, now: () => number): ReadContent {
  const kept = new BoundedMap<string, { readonly content: ImageContent; readonly until: number }>(maxKept);
  return async (located, signal) => {
    const { source, reference, tag } = located;
    const key = JSON.stringify([formatLocated(located), tag, accessKey(source)]);
    const known = kept.get(key);
    if (known !== undefined && now() < known.until) return known.content;
    const content = await readContent(located, registry, signal);
    if (content === undefined || isRefusal(content) || !isDigest(reference)) return content;
    const bytes = content.platforms.reduce((sum, { manifest }) => sum + manifest.config.size, 0);
    if (bytes <= maxKeptBytes) kept.set(key, { content, until: now() + keptMs });
    return content;
  };
}

function isImageEntry(entry: Descriptor): boolean {
  return (
    !isAttestation({ ...entry, annotations: entry.annotations ?? {} }) &&
    entry.artifactType === undefined &&
    isManifestType(entry.mediaType)
  );
}

interface FoundManifest {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
  readonly entry?: Descriptor;
}

async function readPlatform(
  { name, bytes, mediaType, entry }: FoundManifest,
  { source }: Located,
  registry: ContentRegistry,
  signal: AbortSignal | undefined,
): Promise<PlatformContent | Refusal> {
  const manifest = parseManifest(bytes);
  if (manifest === undefined || !isManifestType(mediaType)) return refuse('NotAnImage', `${name} is not the manifest of an image`);
  if (!isImageConfigType(manifest.config.mediaType)) {
    return refuse('NotAnImage', `${name} is not an image: its configuration has another type`);
  }
  if (manifest.config.size > maxConfigBytes) {
    return refuse('TooLarge', `the configuration of ${name} has ${manifest.config.size} bytes; at most ${maxConfigBytes} are read`);
  }
  const blob = await registry.readBlob(source, manifest.config.digest, maxConfigBytes, signal);
  const config = blob && parseConfig(blob);
  if (config === undefined) return refuse('Unreadable', `the configuration of ${name} ${blob ? 'cannot be read' : 'is missing'}`);
  if (blob?.length !== manifest.config.size)
    return refuse('Unreadable', `the configuration of ${name} has another size than its manifest says`);
  const { length } = config.rootfs.diff_ids;
  if (manifest.layers.length !== length) {
    return refuse('Unreadable', `${name} has ${manifest.layers.length} layers, but its configuration lists ${length}`);
  }
  return { platform: formatPlatform(entry?.platform ?? config), ...defined({ entry }), mediaType, manifest, config };
}
