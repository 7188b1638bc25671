/** Reads the attestations of an image that can name its base: those of BuildKit in the index, and referrers (cosign, GitHub, ORAS). */
import { bundleType, statementType } from '../../core/model/media-types.ts';
import { z } from 'zod';
import { type Descriptor, parseManifest } from '../../service/registry/parse-manifest.ts';
import { listOf, predicateRank, provenance } from './evidence/provenance.ts';
import type { NamedBase } from './facts.ts';
import type { ReadContext } from './read-facts.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';

const envelopeType = 'application/vnd.dsse.envelope.v1+json';
const predicateAnnotations = ['in-toto.io/predicate-type', 'dev.sigstore.bundle.predicateType', 'predicateType'];
/** The maximum size of an attestation. Larger SBOMs are skipped; the provenance of a build is much smaller. */
const maxBytes = 1024 * 1024;
/** The maximum number of attestations to read: anybody who may push to the repository may push more. */
const maxManifests = 8;
const maxBlobs = 8;

/** The referrers of a digest that may be attestations which name a base, the likeliest first. */
export async function listAttestations(digest: string, { registry, source, signal }: ReadContext): Promise<readonly Descriptor[]> {
  const referrers = await registry.listReferrers(source, digest, undefined, signal);
  return referrers.filter((entry) => isAttestationType(entry.artifactType) && rankOf(entry) !== undefined).toSorted(byRank);
}

/** The bases that the first of the attestations about a digest names which names any. Unreadable statements and those about another digest are left out. */
export async function readAttested(manifests: readonly Descriptor[], about: string, context: ReadContext): Promise<readonly NamedBase[]> {
  const { registry, source, aliases, signal } = context;
  const layers: Descriptor[] = [];
  for (const entry of manifests.slice(0, maxManifests)) {
    const manifest = await registry.readManifest(source, entry.digest, signal);
    const found = (manifest && parseManifest(manifest.bytes)?.layers) ?? [];
    // The predicate of a bundle is in its entry in the list of referrers, but not in its layer.
    layers.push(...found.map((layer) => ({ ...layer, annotations: { ...entry.annotations, ...layer.annotations } })));
  }
  const wanted = layers.filter(
    (layer) => isAttestationType(layer.mediaType) && rankOf(layer) !== undefined && (layer.size ?? 0) <= maxBytes,
  );
  for (const { digest } of wanted.toSorted(byRank).slice(0, maxBlobs)) {
    const bytes = await registry.readBlob(source, digest, maxBytes, signal);
    const statement = bytes && unwrap(parseJson(bytes.toString('utf8')));
    if (!isAbout(statement, about)) continue;
    const found = provenance.find({ annotations: [], labels: {}, statements: [statement], aliases });
    if (found.length > 0) return found;
  }
  return [];
}

/** Whether a media type or an artifact type is that of an attestation. Signatures of cosign have the type of a bundle as well. */
export function isAttestationType(mediaType = ''): boolean {
  return mediaType === statementType || mediaType === envelopeType || bundleType.test(mediaType);
}

/** The predicate that annotations name. */
export function predicateOf({ annotations = {} }: Pick<Descriptor, 'annotations'>): string | undefined {
  const [predicate] = predicateAnnotations.flatMap((name) => annotations[name] ?? []);
  return predicate;
}

/** The rank of an attestation by the predicate in its annotations. Those without one come last, because only their content shows it. */
function rankOf(entry: Descriptor): number | undefined {
  const predicate = predicateOf(entry);
  return predicate === undefined ? Number.MAX_SAFE_INTEGER : predicateRank(predicate);
}

function byRank(one: Descriptor, other: Descriptor): number {
  return (rankOf(one) ?? 0) - (rankOf(other) ?? 0);
}

const envelope = z.object({ payload: z.base64() });
const bundle = z.object({ dsseEnvelope: envelope });

/** The statement in a Sigstore bundle or a DSSE envelope. Any other document is returned unchanged. */
function unwrap(document: unknown): unknown {
  const payload = bundle.safeParse(document).data?.dsseEnvelope.payload ?? envelope.safeParse(document).data?.payload;
  return payload === undefined ? document : parseJson(Buffer.from(payload, 'base64').toString('utf8'));
}

const subjectOf = z.object({ subject: listOf(z.object({ digest: z.object({ sha256: z.string(), sha512: z.string() }).partial() })) });

function isAbout(statement: unknown, about: string): boolean {
  const { subject = [] } = subjectOf.safeParse(statement).data ?? {};
  return subject.some(({ digest: { sha256, sha512 } }) => [`sha256:${sha256}`, `sha512:${sha512}`].includes(about));
}

function parseJson(text: string): unknown {
  try {
    return parseBoundedJson(text);
  } catch {
    return undefined;
  }
}
