/** The contents of images: manifests and configurations, with the digests that they really have. Layers are known by their digests alone. */
import { createHash } from 'node:crypto';

/** Where the numbers of each kind of content begin. */
const [bases, applications, baseLayers, appLayers, ownLayers] = [10_000, 20_000, 30_000, 40_000, 50_000];

export const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const configType = 'application/vnd.oci.image.config.v1+json';
const layerType = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** What a manifest may be: the types of its configuration and of its layers decide. */
const types = {
  image: [configType, layerType],
  chart: ['application/vnd.cncf.helm.config.v1+json', 'application/vnd.cncf.helm.chart.content.v1.tar+gzip'],
  bundle: ['application/vnd.wasm.content.v1+json', 'application/vnd.cncf.openpolicyagent.policy.layer.v1+rego'],
  signature: [configType, 'application/vnd.dev.cosign.simplesigning.v1+json'],
} as const;
export type Content = keyof typeof types;
export const contents = Object.keys(types) as readonly Content[];

/** An image as a registry stores it. */
export interface StoredImage {
  readonly digest: string;
  readonly manifest: Buffer;
  /** Its configuration, by its digest. */
  readonly blobs: ReadonlyMap<string, Buffer>;
}

/** The numbers of all images that have been made, by their digests. */
const numbers = new Map<string, number>();
const images = new Map<string, StoredImage>();
const kinds = new Map<string, Content>();

/** The number of the build that an image is; undefined for one that was not made here, such as one that the service pushed. */
export function numberOf(digest: string): number | undefined {
  return numbers.get(digest);
}

/** The image of a build. Builds of all repositories but those of bases are numbered alike. */
export function imageOf(build: number): StoredImage {
  return contentOf('image', build);
}

/** What a build brings: an image, or something else under the same number. */
export function contentOf(kind: Content, build: number): StoredImage {
  const known = images.get(`${kind} ${build}`) ?? store(build, [layerOf(ownLayers + build)], {}, kind);
  images.set(`${kind} ${build}`, known);
  kinds.set(known.digest, kind);
  return known;
}

/** What a digest is; undefined for what was not made here, and for images of bases and of applications on them. */
export function kindOf(digest: string): Content | undefined {
  return kinds.get(digest);
}

/** An image that names the commit that it was built from. */
export function imageOfCommit(build: number, commit: number): StoredImage {
  const revision = commit.toString(16).padStart(40, 'c');
  return store(build, [layerOf(ownLayers + build)], { 'org.opencontainers.image.revision': revision });
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

function store(
  number: number,
  layers: readonly string[],
  annotations: Readonly<Record<string, string>>,
  kind: Content = 'image',
): StoredImage {
  const [mediaType, contentType] = types[kind];
  const config = Buffer.from(
    JSON.stringify({ os: 'linux', architecture: 'amd64', config: {}, rootfs: { type: 'layers', diff_ids: layers } }),
  );
  const configDigest = sha256(config);
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: { mediaType, digest: configDigest, size: config.length },
      layers: layers.map((layer) => ({ mediaType: contentType, digest: layer, size: 1_000 })),
      annotations,
    }),
  );
  const digest = sha256(manifest);
  numbers.set(digest, number);
  return { digest, manifest, blobs: new Map([[configDigest, config]]) };
}
