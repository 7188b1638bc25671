/** Distinguishes what registries hold: runnable images, Helm charts, other OCI artifacts, and the signatures and attestations of all of them. */
import { chartConfigType, chartContentType, manifestType } from './media-types.ts';

/** What a policy selects among the contents of its repository, as `spec.artifact` names it. */
export const artifacts = ['Image', 'Chart', 'Any'] as const;
export type Artifact = (typeof artifacts)[number];

/** What a policy selects; images unless its spec says otherwise. */
export function artifactOf({ artifact = 'Image' }: { readonly artifact?: Artifact }): Artifact {
  return artifact;
}

/** Why a manifest cannot be selected as each kind of artifact, as the end of a sentence; without an entry for the kinds as which it can. */
export type Unusable = { readonly [artifact in Artifact]?: string };

/** What is known of a manifest, an index or a descriptor in it; the fields of the OCI image specification. */
export interface ManifestKind {
  readonly mediaType?: string | undefined;
  readonly artifactType?: string | undefined;
}

/** The parts of a manifest that distinguish images from other artifacts; an index has `manifests`. */
export interface ManifestParts extends ManifestKind {
  /** The manifest that a manifest refers to, as those of signatures do. */
  readonly subject?: unknown;
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
  manifestType,
  'application/vnd.oci.image.index.v1+json',
]);
// Media types of configurations of images. Container runtimes also run WebAssembly.
const imageConfigTypes = new Set([
  'application/vnd.docker.container.image.v1+json',
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.wasm.config.v0+json',
]);
const layerType = /^application\/(?:vnd\.oci\.image\.layer\.|vnd\.docker\.image\.rootfs\.|vnd\.wasm\.|wasm$)/;

/** The types of signatures, attestations and SBOMs, which describe other artifacts. */
const proofType =
  /^(?:application\/(?:vnd\.(?:cncf\.notary|dev\.cosign|dev\.sigstore|in-toto|cyclonedx|syft|spdx|oci\.vsa)|spdx)|text\/spdx)/;

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

/** Whether a media type is that of the configuration of a Helm chart. */
export function isChartConfigType(mediaType: string): boolean {
  return essence(mediaType) === chartConfigType;
}

/** Whether a media type is that of a signature, an attestation or an SBOM. */
export function isProofType(mediaType: string): boolean {
  return proofType.test(essence(mediaType));
}

/** Why a manifest cannot be selected as an image, as a chart and as any artifact. */
export function whyUnusable(manifest: ManifestParts): Unusable {
  const [image, chart, any] = [whyNotRunnable(manifest), whyNotChart(manifest), whyProof(manifest)];
  return {
    ...(image !== undefined && { Image: image }),
    ...(chart !== undefined && { Chart: chart }),
    ...(any !== undefined && { Any: any }),
  };
}

/** Why a manifest is not a Helm chart; undefined if it is one. Its configuration decides, and Helm pulls only charts that have a content. */
function whyNotChart({ artifactType, config, layers = [], manifests }: ManifestParts): string | undefined {
  if (manifests !== undefined) return 'it is an index, which no chart is';
  if (artifactType !== undefined && !isChartConfigType(artifactType)) return `it is an artifact of the type ${shown(artifactType)}`;
  const { mediaType = 'that it does not say' } = config ?? {};
  if (!isChartConfigType(mediaType)) return `its configuration is of the type ${shown(mediaType)}`;
  return layers.some(({ mediaType = '' }) => essence(mediaType) === chartContentType) ? undefined : 'it is a chart without a content';
}

/** Why a manifest only describes another artifact, as signatures, attestations and SBOMs do; undefined if it is an artifact of its own. */
function whyProof({ artifactType, config, layers = [], manifests, subject }: ManifestParts): string | undefined {
  if (subject !== undefined && subject !== null) return 'it refers to another manifest, as signatures do';
  if (manifests !== undefined && manifests.length > 0 && manifests.every(isAttestation)) return 'it is an index of attestations';
  const types = [artifactType, config?.mediaType, ...layers.map(({ mediaType }) => mediaType)];
  const proof = types.find((mediaType) => mediaType !== undefined && isProofType(mediaType));
  return proof === undefined ? undefined : `it describes another artifact, for its type is ${shown(proof)}`;
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
