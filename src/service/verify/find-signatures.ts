/** Finds the signatures of an image in its registry. */
import { simpleSigningType } from '../../core/model/media-types.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import {
  findAttached,
  isBundleType,
  readLayer,
  type AttachedLayer,
  type SignaturePorts,
  type Unreadable,
  type Wanted,
} from './find-attached.ts';
import { annotation, type SimpleSignature } from './simple-bundle.ts';

/** A signature in the registry, not verified yet. */
export type FoundSignature = SimpleSignature | BundleSignature | Unreadable;

/** A signature of cosign 3: a Sigstore bundle that refers to the image. */
export interface BundleSignature {
  readonly kind: 'bundle';
  readonly json: Buffer;
}

/** The artifact type of cosign 2's signatures if it stores them as referrers, which is experimental in cosign 2. */
const simpleReferrer = 'application/vnd.dev.cosign.artifact.sig.v1+json';
/** The predicate of the statement that cosign 3 makes when it signs an image. Statements with any other predicate are attestations. */
export const signaturePredicate = 'https://sigstore.dev/cosign/sign/v1';
const maxBytes = { simple: 65_536, bundle: 1_048_576 };

const signatures: Wanted = {
  names: ['a signature', 'signatures'],
  suffix: 'sig',
  artifactTypes: [simpleReferrer],
  layerTypes: [simpleSigningType],
  max: 32,
  isPredicate: (type) => type === signaturePredicate,
};

/** Finds the signatures of a digest; each is read only when the caller requests it. */
export async function* findSignatures(source: ImageSource, digest: string, ports: SignaturePorts): AsyncGenerator<FoundSignature> {
  for await (const found of findAttached(source, digest, signatures, ports)) {
    if (found.kind === 'unreadable') yield found;
    if (found.kind !== 'layer') continue;
    const kind = isBundleType(found.mediaType) ? 'bundle' : 'simple';
    yield await readSignature(kind, found, { ...ports, source });
  }
}

async function readSignature(
  kind: keyof typeof maxBytes,
  layer: AttachedLayer,
  { source, ...ports }: SignaturePorts & { readonly source: ImageSource },
): Promise<FoundSignature> {
  const { digest, annotations } = layer;
  if (kind === 'simple' && annotations[annotation.signature] === undefined) {
    return { kind: 'unreadable', why: `${digest} has no signature in its annotations` };
  }
  const bytes = await readLayer(layer, { source, names: signatures.names, maxBytes: maxBytes[kind] }, ports);
  if ('why' in bytes) return bytes;
  return kind === 'simple' ? { kind, payload: bytes, annotations } : { kind, json: bytes };
}
