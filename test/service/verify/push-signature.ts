/** Pushes signatures into a real registry, as cosign does. */
import type { BundleSignature } from '../../../src/service/verify/find-signatures.ts';
import type { SimpleSignature } from '../../../src/service/verify/simple-bundle.ts';
import { digestOf, pushBlob, putManifest, readManifest, type PushTarget } from '../../harness/push-image.ts';
import { bundleType } from './cosign.ts';

export type Place = Omit<PushTarget, 'tag'>;

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const indexType = 'application/vnd.oci.image.index.v1+json';

/** cosign 2: an image under the tag sha256-….sig, with a layer for each signature. */
export async function pushSimple(place: Place, digest: string, signatures: readonly SimpleSignature[]): Promise<void> {
  const target = { ...place, tag: `${digest.replace(':', '-')}.sig` };
  const layers = await Promise.all(
    signatures.map(async ({ payload, annotations }) => ({
      ...(await pushBlob(target, 'application/vnd.dev.cosign.simplesigning.v1+json', payload)),
      annotations,
    })),
  );
  const config = await pushBlob(target, 'application/vnd.oci.image.config.v1+json', Buffer.from('{}'));
  await putManifest(target, target.tag, manifestType, { schemaVersion: 2, mediaType: manifestType, config, layers });
}

/** cosign 3, at a registry without the referrers API: a manifest that refers to the image. */
export async function pushBundle(place: Place, digest: string, { json }: BundleSignature, annotations = {}): Promise<void> {
  const layer = await pushBlob({ ...place, tag: '' }, bundleType, json);
  const marks = { 'dev.sigstore.bundle.content': 'dsse-envelope', ...annotations };
  await pushReferrer(place, digest, { artifactType: bundleType, layers: [layer], annotations: marks });
}

/** Pushes a manifest that refers to the image, and adds it to the index under the tag sha256-…, without its annotations. */
export async function pushReferrer(
  place: Place,
  digest: string,
  parts: { readonly artifactType: string; readonly layers: readonly object[]; readonly annotations?: object },
): Promise<void> {
  const target = { ...place, tag: digest.replace(':', '-') };
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    config: await pushBlob(target, 'application/vnd.oci.empty.v1+json', Buffer.from('{}')),
    subject: { mediaType: manifestType, digest, size: 1 },
    ...parts,
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  const pushed = await putManifest(target, digestOf(bytes), manifestType, manifest);
  const descriptor = { mediaType: manifestType, digest: pushed.digest, size: bytes.length, artifactType: parts.artifactType };
  const known = (await readManifest(target, target.tag)) as { manifests: object[] } | undefined;
  const manifests = [...(known?.manifests ?? []), descriptor];
  await putManifest(target, target.tag, indexType, { schemaVersion: 2, mediaType: indexType, manifests });
}
