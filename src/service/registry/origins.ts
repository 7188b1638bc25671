/** Reads where images were built from. Each costs at most an index, a manifest and a configuration. */
import { isAttestation } from '../../core/model/artifact.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { readImageList, type ImageList } from '../../core/model/image-list.ts';
import { type ImageOrigin, readOrigin, readRevision } from '../../core/model/image-origin.ts';
import { formatRepository, isDigest } from '../../core/model/image-reference.ts';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';
import type { RegistryClient } from './client.ts';
import { parseImageConfig, parseManifest } from './parse-manifest.ts';

const maxImages = 1_000;
/** How many lists are remembered: each takes up to 16 KiB. */
const maxLists = 200;
const maxConfigBytes = 1024 * 1024;

/** The origin of a tag or digest; undefined if it names none. Rejects as the registry client does. */
export type ReadOrigin = (source: ImageSource, reference: string, signal: AbortSignal) => Promise<ImageOrigin | undefined>;

/** Creates a reader that remembers the origins of the last digests. The origin of a digest never changes. */
export function createOriginReader(registry: Pick<RegistryClient, 'readManifest' | 'readBlob'>): ReadOrigin {
  const known = new BoundedMap<string, { readonly origin: ImageOrigin | undefined }>(maxImages);
  return async (source, reference, signal) => {
    const key = `${formatRepository(source)} ${accessKey(source)} ${reference}`;
    const found = known.get(key) ?? { origin: await read(registry, source, reference, signal) };
    if (isDigest(reference)) known.set(key, found);
    return found.origin;
  };
}

/** The commit that a digest was built from, in lower case; undefined if it names none. Rejects as the registry client does. */
export type ReadRevision = (source: ImageSource, digest: string, signal: AbortSignal) => Promise<string | undefined>;

/** Creates a reader that remembers the commits of the last digests. A commit counts whether or not the image names its repository. */
export function createRevisionReader(registry: RegistryClient): ReadRevision {
  return createTextReader(registry, maxImages, readRevision);
}

/** The list of images that belong to a digest, as it names them itself; undefined if it has none. Rejects as the registry client does. */
export type ReadImageList = (source: ImageSource, digest: string, signal: AbortSignal) => Promise<ImageList | undefined>;

/** Creates a reader that remembers the lists of the last digests. */
export function createImageListReader(registry: Pick<RegistryClient, 'readManifest' | 'readBlob'>): ReadImageList {
  return createTextReader(registry, maxLists, readImageList);
}

/** Creates a reader of what the first annotations or labels of a digest say that say anything; they never change. Remembers the last of these. */
function createTextReader<T extends string | object>(
  registry: Pick<RegistryClient, 'readManifest' | 'readBlob'>,
  maxKnown: number,
  readText: (texts: Texts) => T | undefined,
): (source: ImageSource, digest: string, signal: AbortSignal) => Promise<T | undefined> {
  const known = new BoundedMap<string, { readonly said: T | undefined }>(maxKnown);
  const firstOf = (sets: readonly Texts[]) => sets.map(readText).find((said) => said !== undefined);
  return async (source, digest, signal) => {
    const key = `${formatRepository(source)} ${accessKey(source)} ${digest}`;
    const ask = async () => {
      const { outer, inner } = await readTexts(registry, source, digest, signal);
      return { said: firstOf(outer) ?? firstOf(await inner()) };
    };
    const found = known.get(key) ?? (await ask());
    known.set(key, found);
    return found.said;
  };
}

async function read(
  registry: Pick<RegistryClient, 'readManifest' | 'readBlob'>,
  source: ImageSource,
  reference: string,
  signal: AbortSignal,
): Promise<ImageOrigin | undefined> {
  const { outer, inner } = await readTexts(registry, source, reference, signal);
  const own = readOrigin(outer);
  if (own?.revision !== undefined) return own;
  const [annotations = {}, labels = {}] = await inner();
  const annotated = readOrigin([annotations]);
  if (annotated?.revision !== undefined) return annotated;
  // The annotations of this image take precedence, because its labels may be inherited from a base image and name the base image's source.
  return annotated ?? own ?? readOrigin([labels]);
}

/** The annotations of a manifest, or the labels of an image. */
type Texts = Readonly<Record<string, string>>;

/** The annotations of an index, or of a manifest and its place; and, read when they are needed, the annotations of the image and its labels. */
async function readTexts(
  registry: Pick<RegistryClient, 'readManifest' | 'readBlob'>,
  source: ImageSource,
  reference: string,
  signal: AbortSignal,
): Promise<{ readonly outer: readonly Texts[]; readonly inner: () => Promise<readonly Texts[]> }> {
  const documentOf = async (name: string) => {
    const manifest = await registry.readManifest(source, name, signal);
    return (manifest && parseManifest(manifest.bytes)) ?? {};
  };
  const top = await documentOf(reference);
  const entry = top.manifests?.find((one) => !isAttestation(one));
  const inner = async (): Promise<readonly Texts[]> => {
    const { config, annotations = {} } = entry === undefined ? top : await documentOf(entry.digest);
    if (config === undefined || (config.size ?? 0) > maxConfigBytes) return [annotations];
    const bytes = await registry.readBlob(source, config.digest, maxConfigBytes, signal);
    return [annotations, bytes === undefined ? {} : (parseImageConfig(bytes).config?.Labels ?? {})];
  };
  return { outer: [top.annotations ?? {}, entry?.annotations ?? {}], inner };
}
