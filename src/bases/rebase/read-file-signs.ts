/** Reads which files the layers of a base have, as far as they show its distribution. Layers are read once, and none larger than 48 MiB. */
import { once } from 'node:events';
import { Readable, type Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { Header, Parser } from 'tar';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { createKeyedMutex } from '../../core/async/serialize.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { RegistryClient } from '../../service/registry/client.ts';
import type { Descriptor, PlatformContent } from './content.ts';
import { addOsRelease, addSign, areComplete, type FileSigns, isOsRelease } from './file-signs.ts';

/** Undefined where a layer is too large, was not delivered three times, or cannot be read as an archive: nothing is known then. */
export type ReadFileSigns = (source: ImageSource, base: PlatformContent, signal: AbortSignal) => Promise<FileSigns | undefined>;

/** The maximum size of all layers of a base that are read, as they are in the registry. */
const maxBytes = 48 * 1024 * 1024;
/** The maximum number of bytes that are unpacked of a layer. */
const unpackedBytes = 512 * 1024 * 1024;
/** How much is parsed in a turn of the event loop. */
const chunkBytes = 64 * 1024;
/** An archive is made of blocks. */
const blockBytes = 512;
/** The maximum size of a long path, or of the extended attributes of a file. Larger ones are skipped. */
const maxMetaBytes = 64 * 1024;
/** The maximum size of an os-release. A larger one is skipped. */
const maxReleaseBytes = 64 * 1024;
/** An empty file. The parser unpacks what begins as compressed data does, without a bound; after this, it takes everything for a plain archive. */
const emptyFile = Buffer.alloc(blockBytes);
new Header({ path: 'empty', mode: 0o644, size: 0, type: 'File' }).encode(emptyFile);
const maxLayers = 1_000;
/** The number of failures after which a layer is not compared: a slow registry may delay a rebase, but not prevent it. */
const maxTries = 3;

/** Creates a reader that remembers the layers that it has read, and holds one at a time. Rejects as the registry client does. */
export function createFileSigns(registry: Pick<RegistryClient, 'readBlob'>, { maxUnpacked = unpackedBytes } = {}): ReadFileSigns {
  const known = new BoundedMap<string, FileSigns | undefined>(maxLayers);
  const failures = new BoundedMap<string, number>(maxLayers);
  const mutex = createKeyedMutex();
  const readBlob = async (source: ImageSource, digest: string, size: number, signal: AbortSignal) => {
    try {
      return await registry.readBlob(source, digest, size, signal);
    } catch (error) {
      signal.throwIfAborted();
      const tries = (failures.get(digest) ?? 0) + 1;
      failures.set(digest, tries);
      if (tries < maxTries) throw error;
      return undefined;
    }
  };
  const readLayer = (source: ImageSource, { digest, mediaType, size }: Descriptor, signal: AbortSignal) =>
    mutex.run('layer', async () => {
      if (known.has(digest)) return known.get(digest);
      const bytes = await readBlob(source, digest, size, signal);
      const signs = bytes === undefined ? undefined : await readArchive(bytes, { mediaType, maxUnpacked, signal });
      known.set(digest, signs);
      return signs;
    });
  return async (source, { manifest: { layers } }, signal) => {
    let found: FileSigns = {};
    let left = maxBytes;
    for (const layer of layers) {
      if (areComplete(found)) break;
      left -= layer.size;
      const signs = left < 0 ? undefined : await readLayer(source, layer, signal);
      if (signs === undefined) return undefined;
      found = { ...signs, ...found };
    }
    return found;
  };
}

/** The signs in one layer; undefined if it is no archive in a known format. Its content is untrusted: a bounded part of it is unpacked, and nothing is kept. */
async function readArchive(
  bytes: Buffer,
  { mediaType, maxUnpacked, signal }: { readonly mediaType: string; readonly maxUnpacked: number; readonly signal: AbortSignal },
): Promise<FileSigns | undefined> {
  let found: FileSigns = {};
  let error: unknown;
  let isAtEnd = false;
  const parser = new Parser({
    maxMetaEntrySize: maxMetaBytes,
    onReadEntry(entry) {
      found = addSign(found, entry.path);
      if (isOsRelease(entry.path) && entry.size <= maxReleaseBytes) {
        const parts: Buffer[] = [];
        entry.on('data', (part) => void parts.push(part));
        entry.on('end', () => void (found = addOsRelease(found, String(Buffer.concat(parts)))));
      } else entry.resume();
    },
    onwarn: (_, message) => void (error ??= message),
  });
  parser.on('eof', () => (isAtEnd = true));
  parser.write(emptyFile);
  let unpacked = 0;
  // What follows after both signs may only name the distribution.
  const readable = () => (areComplete(found) ? found : undefined);
  try {
    for await (const chunk of unpack(bytes, mediaType)) {
      await nextTurn(undefined, { signal });
      unpacked += chunk.length;
      if (unpacked > maxUnpacked) return readable();
      if (!parser.write(chunk)) await once(parser, 'drain', { signal });
      if (error !== undefined) return readable();
      if ((areComplete(found) && found.system !== undefined) || isAtEnd) return found;
    }
    parser.end();
    return error === undefined && unpacked % blockBytes === 0 ? found : readable();
  } catch {
    signal.throwIfAborted();
    // The layer is not compressed as its media type says.
    return readable();
  }
}

function unpack(bytes: Buffer, mediaType: string): AsyncIterable<Buffer> {
  const chunks = Readable.from(slices(bytes));
  const format: Transform | undefined = mediaType.endsWith('gzip')
    ? createGunzip()
    : mediaType.endsWith('zstd')
      ? createZstdDecompress()
      : undefined;
  if (format === undefined) return chunks;
  chunks.on('error', (error) => format.destroy(error));
  return chunks.pipe(format);
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}
