import { z } from 'zod';
import { formatRepository } from '../model/image-reference.ts';
import type { ImageSource } from '../model/image-source.ts';
import type { FoundSignature } from './found-signature.ts';
import { annotation } from './simple-bundle.ts';
import { signaturePredicate } from './statement.ts';

/** What is read of a registry. */
export interface SignatureRegistry {
  /** By tag or digest; undefined when it is not there. */
  readManifest(source: ImageSource, reference: string, signal?: AbortSignal): Promise<{ readonly bytes: Buffer } | undefined>;
  readBlob(source: ImageSource, digest: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer | undefined>;
  listReferrers(source: ImageSource, digest: string, artifactType?: string, signal?: AbortSignal): Promise<readonly Referrer[]>;
}

export interface SignaturePorts {
  readonly registry: SignatureRegistry;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** What the registry says of a manifest that refers to an image. */
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
/** cosign 2 with signatures as referrers, its experiment. */
const simpleReferrer = 'application/vnd.dev.cosign.artifact.sig.v1+json';
const bundleType = /^application\/vnd\.dev\.sigstore\.bundle(?:\.v|\+json)/;
const predicateAnnotation = 'dev.sigstore.bundle.predicateType';
const maxBytes = { simple: 65_536, bundle: 1_048_576 };
/** Whoever may push to the repository may push signatures: he must not keep us busy. The latest are the last. */
const maxSignatures = 32;
/** Each may take seconds, and each may have layers. */
const maxMs = 5 * 60_000;

/**
 * The signatures of a digest, each read when it is asked for:
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
  const look = { ...ports, source, checkTime };
  yield* readManifestOf(`${digest.replace(':', '-')}.sig`, look);
  const referrers = await registry.listReferrers(source, digest, undefined, signal);
  for (const { digest } of referrers.filter(isSignature).slice(-maxSignatures)) yield* readManifestOf(digest, look);
}

interface Look extends SignaturePorts {
  readonly source: ImageSource;
  readonly checkTime: () => void;
}

/** Attestations have the type of signatures. What an entry does not say, as in an index that cosign writes itself, its bundle will. */
function isSignature({ artifactType = '', annotations = {} }: Referrer): boolean {
  const { [predicateAnnotation]: predicate = signaturePredicate } = annotations;
  return artifactType === simpleReferrer || (bundleType.test(artifactType) && predicate === signaturePredicate);
}

async function* readManifestOf(reference: string, look: Look): AsyncGenerator<FoundSignature> {
  const { source, registry, signal, checkTime } = look;
  checkTime();
  const manifest = await registry.readManifest(source, reference, signal);
  if (manifest === undefined) return;
  const layers = parseLayers(manifest.bytes);
  if (layers === undefined) yield { kind: 'unreadable', why: `${reference} is no manifest with signatures` };
  for (const layer of (layers ?? []).slice(-maxSignatures)) {
    checkTime();
    const found = await readLayer(layer, look);
    if (found !== undefined) yield found;
  }
}

function parseLayers(bytes: Buffer): readonly Layer[] | undefined {
  try {
    return manifestSchema.safeParse(JSON.parse(bytes.toString('utf8'))).data?.layers;
  } catch {
    // What is no JSON is no manifest either: the caller says so.
    return undefined;
  }
}

async function readLayer({ mediaType, digest, size, annotations }: Layer, look: Look): Promise<FoundSignature | undefined> {
  const kind = mediaType === simpleType ? 'simple' : bundleType.test(mediaType) ? 'bundle' : undefined;
  if (kind === undefined) return undefined;
  if (kind === 'simple' && annotations[annotation.signature] === undefined) {
    return { kind: 'unreadable', why: `${digest} has no signature in its annotations` };
  }
  if (size > maxBytes[kind]) return { kind: 'unreadable', why: `a signature of ${size} bytes is larger than any` };
  const bytes = await look.registry.readBlob(look.source, digest, maxBytes[kind], look.signal);
  if (bytes === undefined) return { kind: 'unreadable', why: `the registry does not hold ${digest}, which should be a signature` };
  return kind === 'simple' ? { kind, payload: bytes, annotations } : { kind, json: bytes };
}
