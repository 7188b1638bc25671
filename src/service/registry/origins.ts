/** Reads where images were built from. Each costs at most an index, a manifest and a configuration. */
import { isAttestation } from '../../core/model/artifact.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { readImageList, type ImageList } from '../../core/model/image-list.ts';
import { type ImageOrigin, readOrigin, readRevision } from '../../core/model/image-origin.ts';
import { isDigest } from '../../core/model/image-reference.ts';
import { sourceKey, type ImageSource } from '../../core/model/image-source.ts';
import type { RegistryClient } from './client.ts';
import { parseImageConfig, parseManifest } from './parse-manifest.ts';

const maxImages = 1_000;
/** How many lists are remembered: each takes up to 16 KiB. */
const maxLists = 200;
const maxConfigBytes = 1024 * 1024;

/** Reads what a tag or digest says of itself; undefined if it says nothing. Rejects as the registry client does. */
type Read<T> = (source: ImageSource, reference: string, signal: AbortSignal) => Promise<T | undefined>;
/** The origin of a tag or digest. */
export type ReadOrigin = Read<ImageOrigin>;
type Contents = Pick<RegistryClient, 'readManifest' | 'readBlob'>;

/** Creates a reader of the origins of images. */
export function createOriginReader(registry: Contents): ReadOrigin {
  return remembered(maxImages, (...image) => read(registry, ...image));
}

/** Creates a reader of the commits that digests were built from, in lower case. A commit counts whether or not the image names its repository. */
export function createRevisionReader(registry: Contents): Read<string> {
  return remembered(maxImages, (...image) => readFirst(registry, readRevision, image));
}

/** Creates a reader of the lists of images that belong to digests, as these name them themselves. */
export function createImageListReader(registry: Contents): Read<ImageList> {
  return remembered(maxLists, (...image) => readFirst(registry, readImageList, image));
}

/** Remembers what the last digests say, which never changes. */
function remembered<T>(maxKnown: number, read: Read<T>): Read<T> {
  const known = new BoundedMap<string, { readonly said: T | undefined }>(maxKnown);
  return async (source, reference, signal) => {
    const key = sourceKey(source, reference);
    const found = known.get(key) ?? { said: await read(source, reference, signal) };
    if (isDigest(reference)) known.set(key, found);
    return found.said;
  };
}

/** What the first annotations or labels say that say anything. */
async function readFirst<T>(
  registry: Contents,
  readText: (texts: Texts) => T | undefined,
  image: Parameters<Read<T>>,
): Promise<T | undefined> {
  const firstOf = (sets: readonly Texts[]) => sets.map(readText).find((said) => said !== undefined);
  const { outer, inner } = await readTexts(registry, ...image);
  return firstOf(outer) ?? firstOf(await inner());
}

async function read(registry: Contents, source: ImageSource, reference: string, signal: AbortSignal): Promise<ImageOrigin | undefined> {
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
  registry: Contents,
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
