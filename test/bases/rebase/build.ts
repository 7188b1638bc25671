/** Builds images with real layers (tar, gzip, whiteouts), and pushes them to a real registry as builders do. */
import { gzipSync } from 'node:zlib';
import { formats, type InTotoStatement } from '../recognize/build-image.ts';
import { type Descriptor, digestOf, pushBlob, putManifest, type PushTarget } from '../../harness/push-image.ts';

/** A layer: the contents of files by their paths; null is a whiteout. `PLATFORM` in a content stands for the platform. */
export type Files = Readonly<Record<string, string | null>>;

export interface RealBuild {
  readonly layers: readonly Files[];
  readonly platforms?: readonly string[];
  readonly format?: (typeof formats)['oci'];
  /** `config` of the configuration: Env, User, … */
  readonly config?: object;
  /** Further fields of the configuration. */
  readonly fields?: object;
  readonly created?: string;
  readonly history?: readonly object[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly indexAnnotations?: Readonly<Record<string, string>>;
  readonly statements?: (digest: string) => readonly InTotoStatement[];
  /** Another way to compress the same files. */
  readonly level?: number;
  /** Changes the descriptors of layers. */
  readonly describe?: (layer: Descriptor) => object;
}

export interface RealImage {
  readonly digest: string;
  /** The bytes of all layers. */
  readonly layerBytes: number;
}

export const bothPlatforms = ['linux/amd64', 'linux/arm64'];

/** Pushes an image under a tag. */
export async function pushReal(target: PushTarget, build: RealBuild): Promise<RealImage> {
  const { platforms = bothPlatforms, format = formats.oci, indexAnnotations: annotations } = build;
  const entries: object[] = [];
  let layerBytes = 0;
  for (const platform of platforms) {
    const { manifest, size } = await pushPlatform(target, platform, build);
    layerBytes += size;
    const bytes = Buffer.from(JSON.stringify(manifest));
    if (platforms.length === 1) return { digest: (await putManifest(target, target.tag, format.manifest, manifest)).digest, layerBytes };
    const { digest } = await putManifest(target, digestOf(bytes), format.manifest, manifest);
    const [os, architecture, variant] = platform.split('/');
    entries.push({ mediaType: format.manifest, digest, size: bytes.length, platform: { os, architecture, ...(variant && { variant }) } });
    for (const statement of build.statements?.(digest) ?? []) entries.push(await pushStatement(target, digest, statement));
  }
  const index = { schemaVersion: 2, mediaType: format.index, manifests: entries, ...(annotations && { annotations }) };
  return { digest: (await putManifest(target, target.tag, format.index, index)).digest, layerBytes };
}

async function pushPlatform(target: PushTarget, platform: string, build: RealBuild): Promise<{ manifest: object; size: number }> {
  const { format = formats.oci, describe = (layer: Descriptor): object => layer, annotations, level = 6 } = build;
  const [os, architecture, variant] = platform.split('/');
  const archives = build.layers.map((files) => tar(files, platform));
  const layers: object[] = [];
  let size = 0;
  for (const archive of archives) {
    const bytes = gzipSync(archive, { level });
    size += bytes.length;
    layers.push(describe(await pushBlob(target, `${format.layer}${format === formats.oci ? '+' : '.'}gzip`, bytes)));
  }
  const config = {
    os,
    architecture,
    ...(variant && { variant }),
    ...(build.created && { created: build.created }),
    ...build.fields,
    config: build.config ?? {},
    rootfs: { type: 'layers', diff_ids: archives.map(digestOf) },
    ...(build.history && { history: build.history }),
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: format.manifest,
    config: await pushBlob(target, format.config, Buffer.from(JSON.stringify(config))),
    layers,
    ...(annotations && { annotations }),
  };
  return { manifest, size };
}

/** The attestation manifest of BuildKit, as an entry of an index. */
async function pushStatement(target: PushTarget, digest: string, statement: InTotoStatement): Promise<object> {
  const { oci } = formats;
  const layer = await pushBlob(target, 'application/vnd.in-toto+json', Buffer.from(JSON.stringify(statement)));
  const predicate = { 'in-toto.io/predicate-type': statement.predicateType };
  const config = await pushBlob(target, oci.config, Buffer.from(JSON.stringify({ os: 'unknown', architecture: 'unknown' })));
  const manifest = { schemaVersion: 2, mediaType: oci.manifest, config, layers: [{ ...layer, annotations: predicate }] };
  const bytes = Buffer.from(JSON.stringify(manifest));
  await putManifest(target, digestOf(bytes), oci.manifest, manifest);
  const annotations = { 'vnd.docker.reference.type': 'attestation-manifest', 'vnd.docker.reference.digest': digest };
  const platform = { os: 'unknown', architecture: 'unknown' };
  return { mediaType: oci.manifest, digest: digestOf(bytes), size: bytes.length, platform, annotations };
}

/** An archive of files, in the format of POSIX (ustar), without owners and times. */
export function tar(files: Files, platform: string): Buffer {
  const blocks = Object.entries(files).flatMap(([path, text]) => {
    const slash = path.lastIndexOf('/') + 1;
    const name = text === null ? `${path.slice(0, slash)}.wh.${path.slice(slash)}` : path;
    const content = Buffer.from((text ?? '').replaceAll('PLATFORM', platform));
    const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
    return [header(name, content.length), content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** The block before a file: `type` is that of POSIX, such as `x` for metadata of the next file. */
export function header(name: string, size: number, type = '0'): Buffer {
  const block = Buffer.alloc(512);
  const octal = (value: number, width: number) => value.toString(8).padStart(width - 1, '0');
  block.write(name, 0);
  block.write(octal(0o644, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write(type, 156);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148);
  return block;
}
