/** Finds the signatures of an image in its registry. */
import { z } from 'zod';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { annotation, type SimpleSignature } from './simple-bundle.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';

/** The parts of the registry client that reading signatures needs. */
export interface SignatureRegistry {
  /** Reads a manifest by tag or digest; undefined for 404. */
  readManifest(source: ImageSource, reference: string, signal?: AbortSignal): Promise<{ readonly bytes: Buffer } | undefined>;
  readBlob(source: ImageSource, digest: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer | undefined>;
  listReferrers(source: ImageSource, digest: string, artifactType?: string, signal?: AbortSignal): Promise<readonly Referrer[]>;
}

/** A signature in the registry, not verified yet. */
export type FoundSignature = SimpleSignature | BundleSignature | UnreadableSignature;

/** A signature of cosign 3: a Sigstore bundle that refers to the image. */
export interface BundleSignature {
  readonly kind: 'bundle';
  readonly json: Buffer;
}

/** An object at the location of a signature that is not a readable signature; `why` is worded for users. */
interface UnreadableSignature {
  readonly kind: 'unreadable';
  readonly why: string;
}

export interface SignaturePorts {
  readonly registry: SignatureRegistry;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** An entry of the list of manifests that refer to an image. */
export interface Referrer {
  readonly digest: string;
  readonly artifactType?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

const manifestSchema = z.object({
  layers: z.array(
    z.object({
      mediaType: z.string(),
      digest: z.string(),
      size: z.int(),
      annotations: z.record(z.string(), z.string()).default({}),
    }),
  ),
});
type Layer = z.output<typeof manifestSchema>['layers'][number];

const simpleType = 'application/vnd.dev.cosign.simplesigning.v1+json';
/** The artifact type of cosign 2's signatures if it stores them as referrers, which is experimental in cosign 2. */
const simpleReferrer = 'application/vnd.dev.cosign.artifact.sig.v1+json';
/** The predicate of the statement that cosign 3 makes when it signs an image. Statements with any other predicate are attestations. */
export const signaturePredicate = 'https://sigstore.dev/cosign/sign/v1';
const bundleType = /^application\/vnd\.dev\.sigstore\.bundle(?:\.v|\+json)/;
const predicateAnnotation = 'dev.sigstore.bundle.predicateType';
const maxBytes = { simple: 65_536, bundle: 1_048_576 };
/** How many signatures are read: the latest, which are the last in the list. Anybody who may push to the repository may push signatures. */
const maxSignatures = 32;
/** The time limit for reading all signatures of an image. Each may take seconds, and may have several layers. */
const maxMs = 5 * 60_000;

/**
 * Finds the signatures of a digest; each is read only when the caller requests it:
 * ```
 *  sha256-<hex>.sig ──▶ layers, with their annotations          cosign 2
 *  referrers        ──▶ manifests ──▶ their bundle              cosign 3 (and, as in cosign 2, layers)
 * ```
 */
export async function* findSignatures(source: ImageSource, digest: string, ports: SignaturePorts): AsyncGenerator<FoundSignature> {
  const { registry, signal, now } = ports;
  const until = now() + maxMs;
  const checkTime = () => {
    if (now() > until)
      throw new Error(`reading signatures of ${formatRepository(source)}@${digest} took longer than ${maxMs / 60_000} min`);
  };
  const search = { ...ports, source, checkTime };
  yield* readManifestOf(`${digest.replace(':', '-')}.sig`, search);
  const referrers = await registry.listReferrers(source, digest, undefined, signal);
  for (const { digest } of referrers.filter(isSignature).slice(-maxSignatures)) yield* readManifestOf(digest, search);
}

interface Search extends SignaturePorts {
  readonly source: ImageSource;
  readonly checkTime: () => void;
}

/** Whether a referrer is a signature; attestations have the same artifact type. Without a predicate, as in an index that cosign writes, its bundle shows it. */
function isSignature({ artifactType = '', annotations = {} }: Referrer): boolean {
  const { [predicateAnnotation]: predicate = signaturePredicate } = annotations;
  return artifactType === simpleReferrer || (bundleType.test(artifactType) && predicate === signaturePredicate);
}

async function* readManifestOf(reference: string, search: Search): AsyncGenerator<FoundSignature> {
  const { source, registry, signal, checkTime } = search;
  checkTime();
  const manifest = await registry.readManifest(source, reference, signal);
  if (manifest === undefined) return;
  const layers = parseLayers(manifest.bytes);
  if (layers === undefined) yield { kind: 'unreadable', why: `${reference} is not a manifest of signatures` };
  for (const layer of (layers ?? []).slice(-maxSignatures)) {
    checkTime();
    const found = await readLayer(layer, search);
    if (found !== undefined) yield found;
  }
}

function parseLayers(bytes: Buffer): readonly Layer[] | undefined {
  try {
    return manifestSchema.safeParse(parseBoundedJson(bytes)).data?.layers;
  } catch {
    // A text that is no manifest is reported by the caller.
    return undefined;
  }
}

async function readLayer({ mediaType, digest, size, annotations }: Layer, search: Search): Promise<FoundSignature | undefined> {
  const kind = mediaType === simpleType ? 'simple' : bundleType.test(mediaType) ? 'bundle' : undefined;
  if (kind === undefined) return undefined;
  if (kind === 'simple' && annotations[annotation.signature] === undefined) {
    return { kind: 'unreadable', why: `${digest} has no signature in its annotations` };
  }
  if (size > maxBytes[kind]) return { kind: 'unreadable', why: `a signature of ${size} bytes is too large` };
  const bytes = await search.registry.readBlob(search.source, digest, maxBytes[kind], search.signal);
  if (bytes === undefined) return { kind: 'unreadable', why: `the registry does not hold ${digest}, which should be a signature` };
  return kind === 'simple' ? { kind, payload: bytes, annotations } : { kind, json: bytes };
}
