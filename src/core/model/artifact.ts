/** Distinguishes runnable images from other contents of a registry: signatures, attestations, charts and any OCI artifact. */

/** What is known of a manifest, an index or a descriptor in it; the fields of the OCI image specification. */
export interface ManifestKind {
  readonly mediaType?: string | undefined;
  readonly artifactType?: string | undefined;
}

/** The parts of a manifest that distinguish images from other artifacts; an index has `manifests`. */
export interface ManifestParts extends ManifestKind {
  readonly config?: ManifestKind | undefined;
  readonly layers?: readonly ManifestKind[] | undefined;
  readonly manifests?: readonly IndexEntry[] | undefined;
}

interface IndexEntry extends ManifestKind {
  readonly platform?: { readonly os: string } | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** The tags of cosign, and the fallback tags of referrers, which hold at most 64 digits (OCI distribution 1.1). */
const artifactTag = /^(?:sha256-[0-9a-f]{64}|sha512-[0-9a-f]{64}(?:[0-9a-f]{64})?)(?:\.[a-z0-9.-]+)?$/;
const manifestTypes = new Set([
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
]);
// Media types of configurations of images. Container runtimes also run WebAssembly.
const imageConfigTypes = new Set([
  'application/vnd.docker.container.image.v1+json',
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.wasm.config.v0+json',
]);
const layerType = /^application\/(?:vnd\.oci\.image\.layer\.|vnd\.docker\.image\.rootfs\.|vnd\.wasm\.|wasm$)/;

/** Whether a tag is derived from the digest of an image by a tool, for a signature or the like. */
export function isArtifactTag(tag: string): boolean {
  return artifactTag.test(tag);
}

/** Whether a media type is that of a manifest or an index of images. */
export function isManifestType(mediaType: string): boolean {
  return manifestTypes.has(essence(mediaType));
}

/** Whether a media type is that of the configuration of an image. */
export function isImageConfigType(mediaType: string): boolean {
  return imageConfigTypes.has(essence(mediaType));
}

/** Why a manifest is not a runnable image, as the end of a sentence; undefined if it is runnable. An index is evaluated by its descriptors alone. */
export function whyNotRunnable({ artifactType, config, layers = [], manifests }: ManifestParts): string | undefined {
  if (artifactType !== undefined) return `it is an artifact of the type ${shown(artifactType)}`;
  if (manifests !== undefined) return manifests.some(mayBeImage) ? undefined : 'it is an index without an image';
  if (config === undefined) return 'it has no configuration';
  const { mediaType = 'that it does not say' } = config;
  if (!isImageConfigType(mediaType)) return `its configuration is of the type ${shown(mediaType)}`;
  const [first] = layers;
  const isForeign = first !== undefined && !layers.some(({ mediaType = '' }) => layerType.test(essence(mediaType)));
  return isForeign ? `its content is of the type ${shown(first.mediaType ?? '')}` : undefined;
}

/** Whether an entry of an index is an attestation. BuildKit adds provenance and SBOMs to the index of an image, under the platform `unknown`. */
export function isAttestation({ platform, annotations }: IndexEntry): boolean {
  return platform?.os === 'unknown' || annotations?.['vnd.docker.reference.type'] === 'attestation-manifest';
}

function mayBeImage(entry: IndexEntry): boolean {
  const { mediaType, artifactType } = entry;
  return artifactType === undefined && (mediaType === undefined || isManifestType(mediaType)) && !isAttestation(entry);
}

/** Sanitises and shortens a text for messages, since the author of the artifact chose it. */
function shown(mediaType: string): string {
  return mediaType.replaceAll(/[^\x21-\x7e]+/g, ' ').slice(0, 100);
}

/** The media type in lower case without parameters, because case and parameters do not matter. */
function essence(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}
