import type { LookupFunction } from 'node:net';
import { formatRepository } from '../model/image-reference.ts';
import { accessKey, type ImageSource } from '../model/image-source.ts';
import { createAnswerBudget } from './answer-budget.ts';
import { createAuthentication } from './authentication.ts';
import { headManifest, type Manifest, type ManifestHead, readBlob, readManifest } from './manifests.ts';
import { conditional } from './conditional.ts';
import { createConcealment } from './conceal.ts';
import type { CredentialSource } from './credential.ts';
import { createDenials } from './denials.ts';
import { type HostEvent, HostLimits } from './host-limits.ts';
import { createHttp, type RequestRecord } from './http.ts';
import { createImages, type Image, type ImagePlatforms } from './images.ts';
import type { Descriptor } from './parse-manifest.ts';
import { type Probe, probeRepository } from './probe.ts';
import { listReferrers } from './referrers.ts';
import { Registries, type RegistrySettings } from './registries.ts';
import type { Session } from './session.ts';
import type { SharedSlots } from './shared-slots.ts';
import { SingleFlight } from '../async/single-flight.ts';
import { listTags } from './tags.ts';
import { Tokens } from './token.ts';

/**
 * Reads from registries. Rejects by what happens next: PermanentError (RegistryRefused: the configuration or the address guard; RegistryDenied:
 * the credentials), WaitError (RegistryThrottled), the signal's reason, or a plain Error (retry) that says what was being done.
 */
export interface RegistryClient {
  /** HEAD of the tag (or digest); undefined when the registry says 404. */
  headManifest(source: ImageSource, reference: string, signal?: AbortSignal): Promise<ManifestHead | undefined>;
  /**
   * The digest of a tag that is about to be used, and what it is, in one request. A GET, which counts as a pull: at Docker Hub, which limits them, it is a HEAD, and
   * `whyNoImage` costs a request more.
   */
  resolveTag(source: ImageSource, tag: string, signal?: AbortSignal): Promise<{ readonly digest: string } | undefined>;
  /** Why a digest is no image that can run, for the end of a sentence; undefined where it is one. Costs nothing after `resolveTag`. */
  whyNoImage(source: ImageSource, digest: string, signal?: AbortSignal): Promise<string | undefined>;
  /** What a tag or digest is, with its platforms and its creation time; undefined for 404. Read once per digest; a tag costs a HEAD more. */
  readImage(source: ImageSource, reference: string, signal?: AbortSignal): Promise<Image | undefined>;
  /** The same without the creation time, which of an index costs two requests more. */
  readPlatforms(source: ImageSource, reference: string, signal?: AbortSignal): Promise<ImagePlatforms | undefined>;
  /** The manifest or index itself, its bytes checked against the digest; undefined for 404. Not cached. */
  readManifest(source: ImageSource, reference: string, signal?: AbortSignal): Promise<Manifest | undefined>;
  /** A blob of at most `maxBytes`, checked against its digest; undefined for 404. Not cached. */
  readBlob(source: ImageSource, digest: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer | undefined>;
  /** What refers to a manifest (signatures, attestations), of one artifact type if that is given; empty where nothing does. */
  listReferrers(source: ImageSource, digest: string, artifactType?: string, signal?: AbortSignal): Promise<readonly Descriptor[]>;
  /** All tags, following Link pages; undefined when the registry does not know the repository (404). */
  listTags(source: ImageSource, signal?: AbortSignal): Promise<string[] | undefined>;
  /** Whether a repository can be read, and with which credentials: one cheap request for the tag or, without one, for the beginning of the list of tags. */
  probe(source: ImageSource, tag: string | undefined, signal?: AbortSignal): Promise<Probe>;
  /** Closes the connections when the last request has ended. */
  close(): Promise<void>;
}

export interface RegistryClientOptions {
  /** Settings per host; a host without an entry: https, defaults. */
  registries: readonly RegistrySettings[];
  /** Hosts that may be asked; empty: all but link-local and metadata addresses, which are refused in any case. */
  allowedRegistries: readonly string[];
  credentials: CredentialSource;
  /**
   * The versions of the credentials for a source, as far as they are known. Who knows newer ones does not share the answer to a question that was asked with older
   * ones: it may be a refusal, and nobody would ask again.
   */
  credentialVersions?: (source: ImageSource) => string;
  now?: () => number;
  random?: () => number;
  /** How names become addresses; the system's resolver unless given. */
  lookup?: LookupFunction;
  /** Called after each request, for metrics. */
  onRequest?: (request: RequestRecord) => void;
  /** Called when something becomes known of a host, for metrics and logs. */
  onHostEvent?: (event: HostEvent) => void;
  /** Where turns at hosts whose limits the configuration names are shared with other replicas; without: each for itself. */
  sharedSlots?: SharedSlots;
  /** How long no request of a host has to end until fewer may wait for it. */
  stuckAfterMs?: number;
  /** How much memory all answers that are being read may hold together. */
  readingBytes?: number;
  /** For one whole request, its body included, without the wait for its turn. */
  timeoutMs?: number;
}

/** Creates a client; throws an Error when a `caFile` cannot be read. */
export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { allowedRegistries, credentials, now = Date.now, random = Math.random, lookup, onRequest, timeoutMs = 10_000 } = options;
  const { onHostEvent: onEvent, sharedSlots: shared, stuckAfterMs, credentialVersions = () => '' } = options;
  const clock = { now, random };
  const registries = new Registries({ registries: options.registries, allowedRegistries, timeoutMs, lookup });
  const limits = new HostLimits({ settings: (host) => registries.settings(host), clock, timeoutMs, shared, onEvent, stuckAfterMs });
  const onDetails = (host: string, why: string) => onEvent?.({ host, kind: 'details', why });
  const { onHop, run } = createConcealment(registries, onDetails);
  const budget = createAnswerBudget({ clock, maxBytes: options.readingBytes, onEvent });
  const http = createHttp({ limits, budget, timeoutMs, onRequest, onHop });
  const send = createAuthentication({
    http,
    tokens: new Tokens({ http, clock }),
    denials: createDenials(clock),
    credentials,
    credentialVersions,
    onDetails,
  });
  const sendForList = conditional(send);
  const images = createImages(credentialVersions);
  const lists = new SingleFlight<string[] | undefined>();
  const open = (source: ImageSource, signal?: AbortSignal): Session => ({
    send,
    clock,
    budget,
    registry: registries.find(source),
    source,
    signal,
  });
  return {
    headManifest: (source, reference, signal) => run(source, async () => headManifest(open(source, signal), reference), signal),
    resolveTag: (source, tag, signal) =>
      run(source, async () => (countsPulls(source) ? headManifest : images.resolve)(open(source, signal), tag), signal),
    whyNoImage: (source, digest, signal) => run(source, async () => images.whyNoImage(open(source, signal), digest), signal),
    readImage: (source, reference, signal) => run(source, async () => images.read(open(source, signal), reference), signal),
    readPlatforms: (source, reference, signal) => run(source, async () => images.readPlatforms(open(source, signal), reference), signal),
    readManifest: (source, reference, signal) => run(source, async () => readManifest(open(source, signal), reference), signal),
    readBlob: (source, digest, maxBytes, signal) => run(source, async () => readBlob(open(source, signal), digest, maxBytes), signal),
    listReferrers: (source, digest, artifactType, signal) =>
      run(source, async () => listReferrers(open(source, signal), digest, artifactType), signal),
    async listTags(source, signal) {
      const session = open(source);
      const key = `${formatRepository(source)} ${accessKey(source)} ${credentialVersions(source)}`;
      return run(source, () => lists.run(key, (signal) => listTags({ ...session, send: sendForList, signal }), signal), signal);
    },
    probe: (source, tag, signal) => run(source, async () => probeRepository(open(source, signal), tag), signal),
    close: () => registries.close(),
  };
}

function countsPulls({ registry }: ImageSource): boolean {
  return registry === 'docker.io';
}
