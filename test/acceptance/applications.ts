/** Applications on bases, in every way in which an image shows its base, or does not. */
import { amd64, bothPlatforms, distribution, runtimeFiles, type Distribution, type Version } from './bases.ts';
import { type Compression, type Image, type Layer, provenanceOf } from './oci-layout.ts';
import { emptied, file, folder, hardlink, removed, symlink } from './tar-writer.ts';

/** How an image of an application is made on a version of its base. */
export interface Build {
  readonly image: Image;
  readonly format?: 'docker';
  /** Provenance that is pushed after the image, and refers to it. */
  readonly referrer?: object;
}

/** Builds an application of this name on a version. */
export type Builder = (name: string, base: Version) => Build;

const annotationName = 'org.opencontainers.image.base.name';
const annotationDigest = 'org.opencontainers.image.base.digest';

/** What names a version, by the digest of its index or of its manifest for a platform. */
const namesOf = (base: Version, digest: string) => ({ [annotationName]: `${base.name}:${base.tag}`, [annotationDigest]: digest });

const long = Array.from({ length: 12 }, (_, index) => `folder-${index}`).join('/');

/** The layer of an application: it adds, replaces, links and removes files, also those of its base. */
function ownLayer(name: string, runtime: string, compression: Compression): Layer {
  const entries = (platform: string) => [
    folder('app', 0o750),
    file('app/main', `${name} for ${platform}`, 0o640),
    hardlink('app/main-again', 'app/main'),
    symlink('app/runtime', `../opt/${runtime}/bin/${runtime}`),
    file('app/start', 'start', 0o4755),
    file(`app/${long}/resource`, name),
    file('etc/motd', `this is ${name}`),
    removed(`opt/${runtime}/lib/certificates`),
    emptied(`opt/${runtime}/share/man`),
    file(`opt/${runtime}/share/man/README`, 'no manuals'),
  ];
  return { entries, compression };
}

const runtimeOf = ({ name }: Version) => name.split('/').at(-1) ?? '';

interface Options {
  readonly platforms?: readonly string[];
  readonly compression?: Compression;
  /** Compresses the layers of the base anew, as some builders do. */
  readonly isRecompressed?: boolean;
}

/** An image on a version, as `FROM` makes it. */
function on(base: Version, name: string, { platforms = bothPlatforms, compression = 'gzip', isRecompressed = false }: Options = {}): Image {
  const below = isRecompressed ? base.image.layers.map((layer) => ({ ...layer, compression })) : base.image.layers;
  const { Env = [], ...config } = base.image.config as { readonly Env?: readonly string[] };
  return {
    layers: [...below, ownLayer(name, runtimeOf(base), compression)],
    platforms,
    config: { ...config, Env: [...Env, `APPLICATION=${name}`], Cmd: ['/app/main'], ExposedPorts: { '8080/tcp': {} } },
  };
}

export const plain =
  (options?: Options): Builder =>
  (name, base) => ({ image: on(base, name, options) });
const annotated: readonly Builder[] = [
  (name, base) => ({ image: { ...on(base, name), indexAnnotations: namesOf(base, base.layout.digest) } }),
  (name, base) => ({ image: { ...on(base, name), annotations: (platform) => namesOf(base, base.layout.manifests[platform] ?? '') } }),
  (name, base) => ({ image: { ...on(base, name, { platforms: amd64 }), annotations: () => namesOf(base, base.layout.digest) } }),
];

const labelled: readonly Builder[] = [{}, { platforms: amd64 }].map((options): Builder => (name, base) => ({
  image: { ...on(base, name, options), labels: () => namesOf(base, base.layout.digest) },
}));

/** The label of Cloud Native Buildpacks, which `pack rebase` reads. */
const packed: readonly Builder[] = [{}, { platforms: amd64 }].map((options): Builder => (name, base) => ({
  image: {
    ...on(base, name, options),
    labels: (platform) => {
      const topLayer = base.layout.diffIds[platform]?.at(-1);
      const runImage = { topLayer, reference: `${base.name}@${base.layout.digest}`, image: base.name };
      return { 'io.buildpacks.lifecycle.metadata': JSON.stringify({ app: [], runImage }), 'io.buildpacks.stack.id': 'io.example.stack' };
    },
  },
}));

const inputs = (base: Version) =>
  provenanceOf([
    { name: 'docker.io/library/maven', digest: `sha256:${'7'.repeat(64)}` },
    { name: base.name, digest: base.layout.digest },
  ]);

const attested: readonly Builder[] = [
  (name, base) => ({ image: { ...on(base, name), provenance: inputs(base) } }),
  (name, base) => ({ image: { ...on(base, name, { platforms: amd64 }), provenance: inputs(base) } }),
  (name, base) => ({ image: on(base, name), referrer: inputs(base) }),
];

const silent: readonly Builder[] = [
  plain(),
  plain({ platforms: amd64 }),
  (name, base) => ({ image: on(base, name, { platforms: amd64 }), format: 'docker' }),
  // Its labels are those of the base of its base.
  (name, base) => ({ image: { ...on(base, name), labels: () => ({ [annotationName]: 'docker.io/library/debian:12' }) } }),
];

const zstd: readonly Builder[] = [plain({ compression: 'zstd' }), plain({ compression: 'zstd', platforms: amd64 })];

/** Only files of the base are copied, onto another distribution; provenance lists the image of the stage that they come from. */
export const copied =
  (below: Distribution, patch?: string): Builder =>
  (name, base) => {
    const runtime = runtimeOf(base);
    const copies: Layer = { entries: (platform) => runtimeFiles(runtime, base.tag, platform) };
    const { platforms, config } = base.image;
    return {
      image: { layers: [distribution(below, patch), copies, ownLayer(name, runtime, 'gzip')], platforms, config, provenance: inputs(base) },
    };
  };

/** All layers in one. */
const squash = (image: Image): Image => ({
  ...image,
  layers: [
    { entries: (platform) => image.layers.flatMap(({ entries }) => entries(platform).filter(({ path }) => !path.includes('.wh.'))) },
  ],
});

const squashed: readonly Builder[] = [
  (name, base) => ({ image: { ...squash(on(base, name)), indexAnnotations: namesOf(base, base.layout.digest) } }),
  (name, base) => ({ image: { ...squash(on(base, name)), labels: () => ({ [annotationName]: `${base.name}:${base.tag}` }) } }),
  (name, base) => ({ image: squash(on(base, name, { platforms: amd64 })) }),
];

/** The ways to build on a base, by what they are called. */
export const builders = { annotated, labelled, packed, attested, silent, zstd, squashed } satisfies Record<string, readonly Builder[]>;
