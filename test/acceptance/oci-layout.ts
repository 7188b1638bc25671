/** Writes images as folders in the layout of the OCI, as builders do. https://github.com/opencontainers/image-spec/blob/main/image-layout.md */
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { tempFolder } from '../harness/temp-folder.ts';
import { type Entry, writeTar } from './tar-writer.ts';

type Texts = Readonly<Record<string, string>>;

export type Compression = 'gzip' | 'zstd';

/** A layer, which may have other files on each platform. */
export interface Layer {
  readonly entries: (platform: string) => readonly Entry[];
  /** gzip unless given. */
  readonly compression?: Compression;
}

export interface Image {
  readonly layers: readonly Layer[];
  /** One makes a manifest, several an index. */
  readonly platforms: readonly string[];
  /** `config` of the configuration: Env, User, … */
  readonly config: object;
  readonly labels?: (platform: string) => Texts;
  readonly annotations?: (platform: string) => Texts;
  readonly indexAnnotations?: Texts;
  /** The predicate of the provenance beside each platform, as BuildKit adds it to an index; an image with one platform gets an index for it. */
  readonly provenance?: object;
}

/** An image on disk. */
export interface Layout {
  readonly path: string;
  readonly digest: string;
  readonly platforms: readonly string[];
  /** The digests of the manifests, by platform. */
  readonly manifests: Texts;
  /** The diff ids of the layers, by platform. */
  readonly diffIds: Readonly<Record<string, readonly string[]>>;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: object;
  readonly annotations?: Texts;
  readonly artifactType?: string;
}

const oci = 'application/vnd.oci.image';
const provenanceType = 'https://slsa.dev/provenance/v1';
const sigstoreBundle = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** Writes an image. */
export function writeImage(image: Image): Layout {
  const blobs = openLayout();
  const entries: Descriptor[] = [];
  const manifests: Record<string, string> = {};
  const diffIds: Record<string, readonly string[]> = {};
  for (const platform of image.platforms) {
    const { manifest, layers } = writeManifest(blobs, image, platform);
    manifests[platform] = manifest.digest;
    diffIds[platform] = layers;
    entries.push({ ...manifest, platform: platformOf(platform) });
  }
  const beside =
    image.provenance === undefined ? [] : Object.values(manifests).map((digest) => writeBeside(blobs, digest, image.provenance));
  const [only] = entries;
  const isAlone = only !== undefined && entries.length + beside.length === 1;
  const top = isAlone ? only : blobs.add(`${oci}.index.v1+json`, indexOf([...entries, ...beside], image.indexAnnotations));
  blobs.close(top);
  return { path: blobs.path, digest: top.digest, platforms: image.platforms, manifests, diffIds };
}

/** A Sigstore bundle with the provenance of a digest, which refers to it, and the index under whose tag registries without the endpoint for referrers have it. */
export function writeReferrer(digest: string, provenance: object): Pick<Layout, 'path' | 'digest'> & { readonly index: object } {
  const blobs = openLayout();
  const payload = Buffer.from(JSON.stringify(statementOf(digest, provenance))).toString('base64');
  const envelope = { payloadType: 'application/vnd.in-toto+json', payload, signatures: [] };
  const layers = [blobs.add(sigstoreBundle, { mediaType: sigstoreBundle, dsseEnvelope: envelope })];
  const config = blobs.add('application/vnd.oci.empty.v1+json', {});
  const annotations = { 'dev.sigstore.bundle.predicateType': provenanceType };
  const mediaType = `${oci}.manifest.v1+json`;
  const manifest = blobs.add(mediaType, { schemaVersion: 2, mediaType, artifactType: sigstoreBundle, config, layers, annotations });
  blobs.close(manifest);
  return { path: blobs.path, digest: manifest.digest, index: indexOf([{ ...manifest, artifactType: sigstoreBundle, annotations }]) };
}

/** Provenance that names images as what a build has used. */
export function provenanceOf(inputs: readonly { readonly name: string; readonly digest: string }[]): object {
  const resolvedDependencies = inputs.map(({ name, digest }) => ({ uri: `oci://${name}`, digest: { sha256: hexOf(digest) } }));
  const buildDefinition = { buildType: 'https://example.com/build', externalParameters: {}, resolvedDependencies };
  return { buildDefinition, runDetails: { builder: { id: 'https://ci.example.com' } } };
}

function writeManifest(blobs: Blobs, image: Image, platform: string): { manifest: Descriptor; layers: readonly string[] } {
  const archives = image.layers.map(({ entries, compression = 'gzip' }) => ({ tar: writeTar(entries(platform)), compression }));
  const layers = archives.map(({ tar, compression }) =>
    blobs.addBytes(`${oci}.layer.v1.tar+${compression}`, compression === 'gzip' ? gzipSync(tar) : zstdCompressSync(tar)),
  );
  const diffIds = archives.map(({ tar }) => digestOf(tar));
  const labels = image.labels?.(platform);
  const config = blobs.add(`${oci}.config.v1+json`, {
    created: '2026-01-01T00:00:00Z',
    ...platformOf(platform),
    config: { ...image.config, ...(labels && { Labels: labels }) },
    rootfs: { type: 'layers', diff_ids: diffIds },
    history: diffIds.map((_, index) => ({ created: '2026-01-01T00:00:00Z', created_by: `layer ${index}` })),
  });
  const annotations = image.annotations?.(platform);
  const mediaType = `${oci}.manifest.v1+json`;
  const manifest = blobs.add(mediaType, { schemaVersion: 2, mediaType, config, layers, ...(annotations && { annotations }) });
  return { manifest, layers: diffIds };
}

/** The attestation manifest of BuildKit, which stands beside the manifest of a platform. */
function writeBeside(blobs: Blobs, of: string, provenance: object | undefined): Descriptor {
  const layer = blobs.add('application/vnd.in-toto+json', statementOf(of, provenance));
  const layers = [{ ...layer, annotations: { 'in-toto.io/predicate-type': provenanceType } }];
  const unknown = { architecture: 'unknown', os: 'unknown' };
  const config = blobs.add(`${oci}.config.v1+json`, { ...unknown, config: {}, rootfs: { type: 'layers', diff_ids: [layer.digest] } });
  const mediaType = `${oci}.manifest.v1+json`;
  const manifest = blobs.add(mediaType, { schemaVersion: 2, mediaType, config, layers });
  const annotations = { 'vnd.docker.reference.type': 'attestation-manifest', 'vnd.docker.reference.digest': of };
  return { ...manifest, platform: unknown, annotations };
}

function statementOf(digest: string, predicate: object | undefined): object {
  const subject = [{ name: 'image', digest: { sha256: hexOf(digest) } }];
  return { _type: 'https://in-toto.io/Statement/v1', subject, predicateType: provenanceType, predicate };
}

function indexOf(manifests: readonly Descriptor[], annotations?: Texts): object {
  return { schemaVersion: 2, mediaType: `${oci}.index.v1+json`, manifests, ...(annotations && { annotations }) };
}

function platformOf(platform: string): { os: string; architecture: string } {
  const [os = '', architecture = ''] = platform.split('/');
  return { os, architecture };
}

const hexOf = (digest: string) => digest.slice('sha256:'.length);
const digestOf = (bytes: Buffer): string => `sha256:${hash('sha256', bytes)}`;

type Blobs = ReturnType<typeof openLayout>;

function openLayout() {
  const path = tempFolder('layout');
  const folder = join(path, 'blobs/sha256');
  mkdirSync(folder, { recursive: true });
  const addBytes = (mediaType: string, bytes: Buffer): Descriptor => {
    const digest = digestOf(bytes);
    writeFileSync(join(folder, hexOf(digest)), bytes);
    return { mediaType, digest, size: bytes.length };
  };
  return {
    path,
    addBytes,
    add: (mediaType: string, document: object) => addBytes(mediaType, Buffer.from(JSON.stringify(document))),
    /** Names the image of the layout. */
    close(top: Descriptor) {
      const { platform: _, ...kept } = top;
      const manifests = [{ ...kept, annotations: { 'org.opencontainers.image.ref.name': 'image' } }];
      writeFileSync(join(path, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
      writeFileSync(join(path, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
    },
  };
}
