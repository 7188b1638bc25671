/** Reads where images were built from. Each costs at most an index, a manifest and a configuration. */
import { isAttestation } from '../../core/model/artifact.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { type ImageOrigin, readOrigin } from '../../core/model/image-origin.ts';
import { formatRepository, isDigest } from '../../core/model/image-reference.ts';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';
import type { RegistryClient } from './client.ts';
import { parseImageConfig, parseManifest } from './parse-manifest.ts';

const maxImages = 1_000;
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

async function read(
  registry: Pick<RegistryClient, 'readManifest' | 'readBlob'>,
  source: ImageSource,
  reference: string,
  signal: AbortSignal,
): Promise<ImageOrigin | undefined> {
  const documentOf = async (name: string) => {
    const manifest = await registry.readManifest(source, name, signal);
    return (manifest && parseManifest(manifest.bytes)) ?? {};
  };
  const top = await documentOf(reference);
  const entry = top.manifests?.find((one) => !isAttestation(one));
  const outer = [top.annotations ?? {}, entry?.annotations ?? {}];
  const own = readOrigin(outer);
  if (own?.revision !== undefined) return own;
  const { config, annotations = {} } = entry === undefined ? top : await documentOf(entry.digest);
  const inner = readOrigin([annotations]);
  if (inner?.revision !== undefined || config === undefined || (config.size ?? 0) > maxConfigBytes) return inner ?? own;
  const bytes = await registry.readBlob(source, config.digest, maxConfigBytes, signal);
  const labels = bytes === undefined ? {} : (parseImageConfig(bytes).config?.Labels ?? {});
  // The annotations of this image take precedence, because its labels may be inherited from a base image and name the base image's source.
  return inner ?? own ?? readOrigin([labels]);
}
