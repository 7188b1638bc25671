/** Builds images with layers, labels, annotations and attestations, and pushes them to a real registry as builders do. */
import { digestOf, type Descriptor, pushBlob, putManifest, type PushTarget } from '../../harness/push-image.ts';

/** The media types of a format. */
interface Format {
  readonly index: string;
  readonly manifest: string;
  readonly config: string;
  readonly layer: string;
}

const oci: Format = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
};
const docker: Format = {
  index: 'application/vnd.docker.distribution.manifest.list.v2+json',
  manifest: 'application/vnd.docker.distribution.manifest.v2+json',
  config: 'application/vnd.docker.container.image.v1+json',
  layer: 'application/vnd.docker.image.rootfs.diff.tar',
};
/** OCI, and Docker v2. */
export const formats = { oci, docker };

type Texts = Readonly<Record<string, string>>;

export interface Build {
  /** The names of the layers; each platform has layers of its own. */
  readonly layers: string;
  /** `linux/amd64`; several make an index. */
  readonly platforms?: readonly string[];
  /** When it was created, as RFC 3339. */
  readonly created?: string;
  readonly format?: Format;
  readonly labels?: (platform: string) => Texts;
  readonly annotations?: (platform: string) => Texts;
  readonly indexAnnotations?: Texts;
  /** In-toto statements in the index, as BuildKit adds them for the manifest of a platform. */
  readonly statements?: (digest: string) => readonly InTotoStatement[];
}

export interface InTotoStatement {
  readonly predicateType: string;
  readonly [key: string]: unknown;
}

/** What was pushed. */
export interface Built {
  readonly digest: string;
  /** The digests of the manifests, by platform. */
  readonly manifests: Readonly<Record<string, string>>;
}

/** Pushes an image under a tag. */
export async function buildImage(target: PushTarget, build: Build): Promise<Built> {
  const { platforms = ['linux/amd64', 'linux/arm64'], format = oci, indexAnnotations: annotations, statements } = build;
  const entries: (Descriptor & object)[] = [];
  const manifests: Record<string, string> = {};
  for (const platform of platforms) {
    const manifest = await pushPlatform(target, platform, build);
    const reference = platforms.length === 1 ? target.tag : digestOf(Buffer.from(JSON.stringify(manifest)));
    const { digest } = await putManifest(target, reference, format.manifest, manifest);
    manifests[platform] = digest;
    const [os, architecture] = platform.split('/');
    entries.push({ ...describe(format.manifest, manifest), platform: { os, architecture } } as Descriptor);
    if (platforms.length === 1) return { digest, manifests };
  }
  for (const digest of statements === undefined ? [] : Object.values(manifests)) {
    const attestation = await pushStatements(target, statements?.(digest) ?? []);
    const of = { 'vnd.docker.reference.type': 'attestation-manifest', 'vnd.docker.reference.digest': digest };
    entries.push({ ...attestation, platform: { os: 'unknown', architecture: 'unknown' }, annotations: of } as Descriptor);
  }
  const index = { schemaVersion: 2, mediaType: format.index, manifests: entries, ...(annotations && { annotations }) };
  return { digest: (await putManifest(target, target.tag, format.index, index)).digest, manifests };
}

async function pushPlatform(
  target: PushTarget,
  platform: string,
  { layers, format = oci, created, labels, annotations }: Build,
): Promise<object> {
  const contents = layers.split(' ').map((name) => Buffer.from(`${name} for ${platform}`));
  const [os, architecture] = platform.split('/');
  const config = {
    os,
    architecture,
    ...(created !== undefined && { created }),
    config: { Labels: labels?.(platform) ?? null },
    rootfs: { type: 'layers', diff_ids: contents.map(digestOf) },
    history: [{ created_by: 'COPY' }, { created_by: 'ENV', empty_layer: true }],
  };
  const pushed: Descriptor[] = [];
  for (const content of contents) pushed.push(await pushBlob(target, format.layer, content));
  return {
    schemaVersion: 2,
    mediaType: format.manifest,
    config: await pushBlob(target, format.config, Buffer.from(JSON.stringify(config))),
    layers: pushed,
    ...(annotations && { annotations: annotations(platform) }),
  };
}

function describe(mediaType: string, document: object): Descriptor {
  const bytes = Buffer.from(JSON.stringify(document));
  return { mediaType, digest: digestOf(bytes), size: bytes.length };
}

async function pushStatements(target: PushTarget, statements: readonly InTotoStatement[]): Promise<Descriptor> {
  const layers: object[] = [];
  for (const statement of statements) {
    const blob = await pushBlob(target, 'application/vnd.in-toto+json', Buffer.from(JSON.stringify(statement)));
    layers.push({ ...blob, annotations: { 'in-toto.io/predicate-type': statement.predicateType } });
  }
  const config = await pushBlob(target, oci.config, Buffer.from(JSON.stringify({ os: 'unknown', architecture: 'unknown' })));
  const manifest = { schemaVersion: 2, mediaType: oci.manifest, config, layers };
  await putManifest(target, digestOf(Buffer.from(JSON.stringify(manifest))), oci.manifest, manifest);
  return describe(oci.manifest, manifest);
}

/** Pushes a Sigstore bundle that refers to a digest, as `cosign attest` and GitHub do, and the index of referrers that registries without the endpoint have. */
export async function attest(target: PushTarget, digest: string, statement: InTotoStatement): Promise<void> {
  const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';
  const payload = Buffer.from(JSON.stringify(statement)).toString('base64');
  const bundle = { mediaType: bundleType, dsseEnvelope: { payloadType: 'application/vnd.in-toto+json', payload, signatures: [] } };
  const layer = await pushBlob(target, bundleType, Buffer.from(JSON.stringify(bundle)));
  const config = await pushBlob(target, 'application/vnd.oci.empty.v1+json', Buffer.from('{}'));
  const annotations = { 'dev.sigstore.bundle.predicateType': statement.predicateType };
  const manifest = { schemaVersion: 2, mediaType: oci.manifest, artifactType: bundleType, config, layers: [layer], annotations };
  const pushed = describe(oci.manifest, manifest);
  await putManifest(target, pushed.digest, oci.manifest, manifest);
  const index = { schemaVersion: 2, mediaType: oci.index, manifests: [{ ...pushed, artifactType: bundleType, annotations }] };
  await putManifest(target, digest.replace(':', '-'), oci.index, index);
}

/** SLSA provenance (v1, or v0.2 as of BuildKit) of a manifest or an index, with the images that the build used. */
export function provenanceOf(
  digest: string,
  inputs: readonly { readonly uri: string; readonly digest: string }[],
  version: 'v0.2' | 'v1' = 'v0.2',
): InTotoStatement {
  const hex = (text: string) => ({ sha256: text.replace('sha256:', '') });
  const materials = inputs.map((input) => ({ uri: input.uri, digest: hex(input.digest) }));
  return {
    _type: version === 'v1' ? 'https://in-toto.io/Statement/v1' : 'https://in-toto.io/Statement/v0.1',
    subject: [{ name: 'image', digest: hex(digest) }],
    predicateType: `https://slsa.dev/provenance/${version}`,
    predicate: version === 'v1' ? { buildDefinition: { resolvedDependencies: materials } } : { materials },
  };
}
