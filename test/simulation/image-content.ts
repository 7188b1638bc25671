/** The contents of images: manifests, configurations and layers, which say what an image is built on. */
import { createHash } from 'node:crypto';
import { buildOf, digestOf } from './images.ts';

/** Where the numbers of each kind of content begin. */
const [bases, applications, baseLayers, appLayers, configs] = [10_000, 20_000, 30_000, 40_000, 50_000];

export const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const configType = 'application/vnd.oci.image.config.v1+json';
const layerType = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** The digest of a build of the base, and of the application. */
export const baseDigest = (build: number): string => digestOf(bases + build);
export const appDigest = (build: number): string => digestOf(applications + build);

/** An image as a registry stores it: the bytes by their digests. */
export interface StoredImage {
  readonly digest: string;
  readonly blobs: ReadonlyMap<string, Buffer>;
}

/** The image of a build of the base. */
export function baseImage(build: number): StoredImage {
  return store(baseDigest(build), [digestOf(baseLayers + build)], {});
}

/** The image of a build of the application, on a build of the base, which it names. */
export function appImage(build: number, onBase: number, base: string): StoredImage {
  const annotations = { 'org.opencontainers.image.base.name': base, 'org.opencontainers.image.base.digest': baseDigest(onBase) };
  return store(appDigest(build), [digestOf(baseLayers + onBase), digestOf(appLayers + build)], annotations);
}

/** The build of the base that an image with these layers is built on. */
export function baseBuildOf(layers: readonly string[]): number | undefined {
  const build = layers[0] === undefined ? undefined : buildOf(layers[0]) - baseLayers;
  return build !== undefined && build >= 0 && build < appLayers - baseLayers ? build : undefined;
}

/** The digest that content really has. */
export function sha256(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function store(digest: string, layers: readonly string[], annotations: Readonly<Record<string, string>>): StoredImage {
  const config = Buffer.from(
    JSON.stringify({ os: 'linux', architecture: 'amd64', config: {}, rootfs: { type: 'layers', diff_ids: layers } }),
  );
  const configDigest = digestOf(configs + buildOf(digest));
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: configType, digest: configDigest, size: config.length },
    layers: layers.map((layer) => ({ mediaType: layerType, digest: layer, size: 1_000 })),
    annotations,
  };
  return {
    digest,
    blobs: new Map([
      [digest, Buffer.from(JSON.stringify(manifest))],
      [configDigest, config],
    ]),
  };
}
