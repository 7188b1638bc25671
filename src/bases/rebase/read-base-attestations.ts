/** Finds the attestations of a base that say what is in it: SBOMs and provenance, in its index as BuildKit adds them, and among its referrers. They are not verified. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { SingleFlight } from '../../core/async/single-flight.ts';
import { isAttestation } from '../../core/model/artifact.ts';
import { defined } from '../../core/model/defined.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';
import type { RegistryClient } from '../../service/registry/client.ts';
import { type Descriptor, parseManifest } from '../../service/registry/parse-manifest.ts';
import { isAttestationType, predicateOf } from '../recognize/read-attestations.ts';
import type { ImageContent } from './content.ts';
import { type BaseAttestation, kindOfPredicate } from './provenance.ts';

/** A base, and the manifests of its index that a rebased image is built on. */
export interface AttestedBase {
  readonly source: ImageSource;
  readonly content: Pick<ImageContent, 'digest' | 'index'>;
  readonly manifests: readonly string[];
}

/** The attestations of a base as far as they can be read. Rejects only if `signal` is aborted. */
export type ReadBaseAttestations = (base: AttestedBase, signal: AbortSignal) => Promise<readonly BaseAttestation[]>;

type AttestationRegistry = Pick<RegistryClient, 'listReferrers' | 'readManifest'>;

/** The maximum number of attestations of a base to link, and to read for it: anybody who may push to its repository may push more. */
const maxAttestations = 16;
/** The maximum size of the manifest of an attestation. Those of builders have some kilobytes. */
const maxManifestBytes = 256 * 1024;
/** The time limit for all attestations of a base, without which a rebase goes on. */
const maxMs = 20_000;
const maxKept = 1_024;
const keptMs = 600_000;
/** The time without another request after one that failed. */
const failedMs = 60_000;

/**
 * A reader that many rebases have in common. It lists the referrers of a base once in ten minutes with the same access. It reads the manifests of attestations
 * only where a list does not name the predicate, each once.
 */
export function createBaseAttestations(registry: AttestationRegistry, now: () => number): ReadBaseAttestations {
  const listed = createMemory<Candidate>(now);
  const predicates = createMemory<string>(now);
  return async ({ source, content, manifests }, signal) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(maxMs)]);
    const keyOf = (digest: string) => JSON.stringify([formatRepository(source), digest, accessKey(source)]);
    const readTypes = async ({ digest, size }: Candidate) =>
      size > maxManifestBytes ? [] : predicates(keyOf(digest), (one) => readPredicates(source, digest, registry, one), { signal, limit });
    const referrers = await listed(
      keyOf(content.digest),
      async (one) => candidatesAmong(await registry.listReferrers(source, content.digest, undefined, one)),
      { signal, limit },
    );
    const found: BaseAttestation[] = [];
    for (const candidate of [...inIndex(content, manifests), ...referrers].slice(0, maxAttestations)) {
      const { predicateType: known, size: _, ...link } = candidate;
      for (const predicateType of known === undefined ? await readTypes(candidate) : [known]) {
        const kind = kindOfPredicate(predicateType);
        if (kind !== undefined) found.push({ kind, predicateType, ...link });
      }
    }
    return found.slice(0, maxAttestations);
  };
}

/** What is known of an attestation from a list. All of it is short and of a known form, because whoever may push to the repository of the base chooses it. */
interface Candidate extends Pick<BaseAttestation, 'digest' | 'mediaType' | 'subject'> {
  readonly size: number;
  /** Absent if the list does not name it. */
  readonly predicateType?: string;
}

/** Undefined if the list names a predicate that is not linked. */
function candidateOf(entry: Descriptor): Candidate | undefined {
  const { digest, mediaType = '', size = 0 } = entry;
  const predicateType = predicateOf(entry);
  if (predicateType !== undefined && kindOfPredicate(predicateType) === undefined) return undefined;
  const isPlain = /^application\/[\w.+-]{1,100}$/.test(mediaType);
  return { digest, size, ...(isPlain && { mediaType }), ...defined({ predicateType }) };
}

/** The attestations of these manifests in an index. */
function inIndex({ index }: AttestedBase['content'], manifests: readonly string[]): Candidate[] {
  return (index?.manifests ?? []).flatMap(({ digest, mediaType, size, annotations: texts }) => {
    const annotations = texts ?? {};
    const subject = manifests.find((one) => one === annotations['vnd.docker.reference.digest']);
    const candidate = isAttestation({ annotations }) ? candidateOf({ digest, mediaType, size, annotations }) : undefined;
    return subject === undefined || candidate === undefined ? [] : [{ ...candidate, subject }];
  });
}

/** The referrers that are or may be attestations to link, in an order that does not depend on the registry. Those whose predicate is known come first. */
function candidatesAmong(referrers: readonly Descriptor[]): Candidate[] {
  const candidates = referrers
    .filter(({ artifactType }) => isAttestationType(artifactType))
    .flatMap((entry) => candidateOf(entry) ?? [])
    .toSorted((one, other) => (one.digest < other.digest ? -1 : 1));
  const known = candidates.filter(({ predicateType }) => predicateType !== undefined);
  const unknown = candidates.filter(({ predicateType }) => predicateType === undefined);
  return [...known, ...unknown].slice(0, maxAttestations);
}

/** The predicates that the manifest of an attestation names, for itself or for its statements. */
async function readPredicates(source: ImageSource, digest: string, registry: AttestationRegistry, signal: AbortSignal): Promise<string[]> {
  const manifest = await registry.readManifest(source, digest, signal);
  const document = manifest && parseManifest(manifest.bytes);
  if (document === undefined) return [];
  const statements = (document.layers ?? []).filter(({ mediaType }) => isAttestationType(mediaType));
  return [...new Set([document, ...statements].flatMap((one) => predicateOf(one) ?? []))]
    .filter((type) => kindOfPredicate(type) !== undefined)
    .slice(0, maxAttestations);
}

interface Limits {
  /** Ends the caller's work. */
  readonly signal: AbortSignal;
  /** Ends the load: aborted with `signal`, or earlier. */
  readonly limit: AbortSignal;
}

/** Remembers lists. Simultaneous callers share one load, and a load that fails is an empty list for a short time. */
function createMemory<T>(now: () => number) {
  const kept = new BoundedMap<string, { readonly list: readonly T[]; readonly until: number }>(maxKept);
  const flights = new SingleFlight<readonly T[]>();
  return async (key: string, load: (signal: AbortSignal) => Promise<readonly T[]>, { signal, limit }: Limits): Promise<readonly T[]> => {
    const known = kept.get(key);
    if (known !== undefined && now() < known.until) return known.list;
    const remember = (list: readonly T[], ms: number) => {
      kept.set(key, { list, until: now() + ms });
      return list;
    };
    try {
      return remember(await flights.run(key, load, limit), keptMs);
    } catch {
      signal.throwIfAborted();
      // The provenance of a rebase is complete without links, so nothing depends on them.
      return remember([], failedMs);
    }
  };
}
