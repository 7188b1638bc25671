/** Finds what cosign attaches to a digest in its registry: signatures, and attestations. */
import { bundleType } from '../../core/model/media-types.ts';
import { z } from 'zod';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';

/** The parts of the registry client that reading signatures needs. */
export interface SignatureRegistry {
  /** Reads a manifest by tag or digest; undefined for 404. */
  readManifest(source: ImageSource, reference: string, signal?: AbortSignal): Promise<{ readonly bytes: Buffer } | undefined>;
  readBlob(source: ImageSource, digest: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer | undefined>;
  listReferrers(source: ImageSource, digest: string, artifactType?: string, signal?: AbortSignal): Promise<readonly Referrer[]>;
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
  annotations: z.record(z.string(), z.string()).catch({}),
  layers: z.array(
    z.object({
      mediaType: z.string(),
      digest: z.string(),
      size: z.int(),
      annotations: z.record(z.string(), z.string()).default({}),
    }),
  ),
});

/** A layer of a manifest. Its content is not read yet. */
export type AttachedLayer = z.output<typeof manifestSchema>['layers'][number];

/** An object where something attached should be, and that is not readable; `why` is worded for users. */
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly why: string;
}

/** What is found: a layer to read, something unreadable, or the number of those that were left out because there are too many. */
export type Attached = ({ readonly kind: 'layer' } & AttachedLayer) | Unreadable | { readonly kind: 'left-out'; readonly count: number };

/** The kind of attached manifests that is searched for. */
export interface Wanted {
  /** What is wanted, in words for people: for one and for several. */
  readonly names: readonly [one: string, many: string];
  /** The end of the tag under which cosign 2 stores it: `sig`. */
  readonly suffix: string;
  /** The types of manifests, and of layers, in which it is; bundles are searched as well. */
  readonly artifactTypes: readonly string[];
  readonly layerTypes: readonly string[];
  /** How many manifests, and layers of each, are read: the latest, which are the last in the list. Anybody who may push to the repository may push more. */
  readonly max: number;
  /** Whether statements of this kind are wanted. Without an annotation that names their kind, they are found as well. */
  isPredicate(type: string): boolean;
}

/** The annotations with which cosign 3 and cosign 2 name the kind of a statement. An index that cosign writes has none. */
const predicateAnnotations = ['dev.sigstore.bundle.predicateType', 'predicateType'];
/** The time limit for reading all of them. Each may take seconds. */
const maxMs = 5 * 60_000;

/**
 * Finds what is attached to a digest, one after the other, so that the caller may stop:
 * ```
 *  sha256-<hex>.sig ──▶ layers, with their annotations          cosign 2
 *  referrers        ──▶ manifests ──▶ their layers              cosign 3 (bundles) and 2
 * ```
 */
export async function* findAttached(source: ImageSource, digest: string, wanted: Wanted, ports: SignaturePorts): AsyncGenerator<Attached> {
  const { registry, signal, now } = ports;
  const until = now() + maxMs;
  const [, many] = wanted.names;
  const checkTime = () => {
    if (now() > until) throw new Error(`reading ${many} of ${formatRepository(source)}@${digest} took longer than ${maxMs / 60_000} min`);
  };
  const search = { ...ports, source, wanted, checkTime };
  yield* readManifestOf(`${digest.replace(':', '-')}.${wanted.suffix}`, search);
  const referrers = (await registry.listReferrers(source, digest, undefined, signal)).filter(
    ({ artifactType = '', annotations }) => isType(artifactType, wanted.artifactTypes) && mayBeWanted(annotations, wanted),
  );
  yield* countLeftOut(referrers, wanted);
  for (const { digest } of referrers.slice(-wanted.max)) yield* readManifestOf(digest, search);
}

interface Search extends SignaturePorts {
  readonly source: ImageSource;
  readonly wanted: Wanted;
  readonly checkTime: () => void;
}

async function* readManifestOf(reference: string, search: Search): AsyncGenerator<Attached> {
  const { source, registry, signal, wanted, checkTime } = search;
  checkTime();
  const manifest = await registry.readManifest(source, reference, signal);
  if (manifest === undefined) return;
  const { layers: all, annotations } = parseLayers(manifest.bytes) ?? {};
  if (all === undefined) yield { kind: 'unreadable', why: `${reference} is not a manifest of ${wanted.names[1]}` };
  if (all === undefined || !mayBeWanted(annotations, wanted)) return;
  const layers = all.filter((layer) => isType(layer.mediaType, wanted.layerTypes) && mayBeWanted(layer.annotations, wanted));
  yield* countLeftOut(layers, wanted);
  for (const layer of layers.slice(-wanted.max)) {
    checkTime();
    yield { kind: 'layer', ...layer };
  }
}

/** Whether a media type is that of a bundle. */
export function isBundleType(mediaType: string): boolean {
  return bundleType.test(mediaType);
}

function isType(mediaType: string, types: readonly string[]): boolean {
  return isBundleType(mediaType) || types.includes(mediaType);
}

function mayBeWanted(annotations: Readonly<Record<string, string>> = {}, { isPredicate }: Wanted): boolean {
  return predicateAnnotations.every((name) => annotations[name] === undefined || isPredicate(annotations[name]));
}

function* countLeftOut(all: readonly unknown[], { max }: Wanted): Generator<Attached> {
  if (all.length > max) yield { kind: 'left-out', count: all.length - max };
}

function parseLayers(bytes: Buffer): z.output<typeof manifestSchema> | undefined {
  try {
    return manifestSchema.safeParse(parseBoundedJson(bytes)).data;
  } catch {
    // A text that is no manifest is reported by the caller.
    return undefined;
  }
}

/** What to read of a layer. */
export interface LayerRead {
  readonly source: ImageSource;
  readonly names: Wanted['names'];
  readonly maxBytes: number;
}

/** Reads the content of a layer, up to a size. */
export async function readLayer(
  { digest, size }: AttachedLayer,
  { source, names: [one], maxBytes }: LayerRead,
  { registry, signal }: SignaturePorts,
): Promise<Buffer | Unreadable> {
  if (size > maxBytes) return { kind: 'unreadable', why: `${one} of ${size} bytes is too large` };
  const bytes = await registry.readBlob(source, digest, maxBytes, signal);
  return bytes ?? { kind: 'unreadable', why: `the registry does not hold ${digest}, which should be ${one}` };
}
