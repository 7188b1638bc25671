/** The contents of images: manifests and configurations, with the digests that they really have. Layers are known by their digests alone. */
import { createHash } from 'node:crypto';

/** Where the numbers of each kind of content begin. */
const [bases, applications, baseLayers, appLayers, ownLayers] = [10_000, 20_000, 30_000, 40_000, 50_000];

export const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const configType = 'application/vnd.oci.image.config.v1+json';
const layerType = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** An image as a registry stores it. */
export interface StoredImage {
  readonly digest: string;
  readonly manifest: Buffer;
  /** Its configuration, by its digest. */
  readonly blobs: ReadonlyMap<string, Buffer>;
}

/** The numbers of all images that have been made, by their digests. */
const numbers = new Map<string, number>();
const images = new Map<number, StoredImage>();

/** The number of the build that an image is; undefined for one that was not made here, such as one that the service pushed. */
export function numberOf(digest: string): number | undefined {
  return numbers.get(digest);
}

/** The image of a build. Builds of all repositories but those of bases are numbered alike. */
export function imageOf(build: number): StoredImage {
  const known = images.get(build) ?? store(build, [layerOf(ownLayers + build)], {});
  images.set(build, known);
  return known;
}

/** The image of a build of the base. */
export function baseImage(build: number): StoredImage {
  return store(bases + build, [layerOf(baseLayers + build)], {});
}

/** The image of a build of the application, on a build of the base, which it names. */
export function appImage(build: number, onBase: number, base: string): StoredImage {
  const annotations = {
    'org.opencontainers.image.base.name': base,
    'org.opencontainers.image.base.digest': baseImage(onBase).digest,
  };
  return store(applications + build, [layerOf(baseLayers + onBase), layerOf(appLayers + build)], annotations);
}

/** The build of the base that an image with these layers is built on. */
export function baseBuildOf([layer]: readonly string[]): number | undefined {
  const build = layer === undefined ? undefined : Number.parseInt(layer.slice(-8), 16) - baseLayers;
  return build !== undefined && build >= 0 && build < appLayers - baseLayers ? build : undefined;
}

/** The digest that content really has. */
export function sha256(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** The digest of a layer, by its number. */
function layerOf(number: number): string {
  return `sha256:${number.toString(16).padStart(64, '0')}`;
}

function store(number: number, layers: readonly string[], annotations: Readonly<Record<string, string>>): StoredImage {
  const config = Buffer.from(
    JSON.stringify({ os: 'linux', architecture: 'amd64', config: {}, rootfs: { type: 'layers', diff_ids: layers } }),
  );
  const configDigest = sha256(config);
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: { mediaType: configType, digest: configDigest, size: config.length },
      layers: layers.map((layer) => ({ mediaType: layerType, digest: layer, size: 1_000 })),
      annotations,
    }),
  );
  const digest = sha256(manifest);
  numbers.set(digest, number);
  return { digest, manifest, blobs: new Map([[configDigest, config]]) };
}
