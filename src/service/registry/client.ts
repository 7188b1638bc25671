import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Unusable } from '../../core/model/artifact.ts';
import type { Repository } from '../../core/model/image-reference.ts';
import { sourceKey, type ImageSource } from '../../core/model/image-source.ts';
import type { Proxies } from '../../core/model/proxy.ts';
import type { Route } from '../proxy/route.ts';
import { createAnswerBudget } from './answer-budget.ts';
import { createAuthentication } from './authentication.ts';
import { headManifest, type Manifest, type ManifestHead, readBlob, readManifest } from './manifests.ts';
import { conditional } from './conditional.ts';
import { createConcealment } from './conceal.ts';
import type { CredentialSource } from './credential.ts';
import { createDenials } from './denials.ts';
import { type HostEvent, HostLimits } from './host-limits.ts';
import { createHttp, type Confirm, type RequestRecord } from './http.ts';
import { createImages, type Image, type ImagePlatforms } from './images.ts';
import type { Descriptor } from './parse-manifest.ts';
import { createPush, type RegistryPush } from './push.ts';
import { type Probe, probeRepository } from './probe.ts';
import { listReferrers } from './referrers.ts';
import { type ScannedImage, readScanReports } from './scan-reports.ts';
import { Registries, type RegistrySettings } from './registries.ts';
import type { Session } from './session.ts';
import type { SharedSlots } from './shared-slots.ts';
import { SingleFlight } from '../../core/async/single-flight.ts';
import { listTags } from './tags.ts';
import { Tokens } from './token.ts';

/**
 * Reads from registries, and writes to them through `openPush`. Rejects with PermanentError (RegistryRefused by the configuration or the address guard, RegistryDenied if no credential is accepted),
 * with WaitError (RegistryThrottled, RegistryBusy or RegistryUnavailable), with the signal's reason, or with a plain Error (retry) that names the request.
 */
export interface RegistryClient {
  /** The digest and media type of a tag or digest, by HEAD; undefined for 404. */
  headManifest(source: ImageSource, reference: string, signal?: AbortSignal): Promise<ManifestHead | undefined>;
  /**
   * The digest of a tag that is about to be applied, by a GET, whose manifest is cached for `whyUnusable`. Docker Hub counts each GET as a pull, so it gets
   * a HEAD, and `whyUnusable` costs another request. Undefined for 404.
   */
  resolveTag(source: ImageSource, tag: string, signal?: AbortSignal): Promise<{ readonly digest: string } | undefined>;
  /**
   * The digest of a tag whose image is not known, by a GET, with the bytes of its manifest, which would be read next. Docker Hub counts each GET as a pull, so it
   * gets a HEAD: after a restart, the image of the digest may be known to Redis. Undefined for 404.
   */
  readTag(
    source: ImageSource,
    tag: string,
    signal?: AbortSignal,
  ): Promise<{ readonly digest: string; readonly bytes?: Buffer } | undefined>;
  /** Why a digest cannot be selected as an image, or as another kind of artifact. No request after `resolveTag`. */
  whyUnusable(source: ImageSource, digest: string, signal?: AbortSignal): Promise<Unusable>;
  /** The image of a tag or digest, with its platforms and creation time; undefined for 404. Cached by digest; a tag costs one HEAD. */
  readImage(source: ImageSource, reference: string, signal?: AbortSignal): Promise<Image | undefined>;
  /** Like `readImage` without the creation time, which costs two more requests for an index. */
  readPlatforms(source: ImageSource, reference: string, signal?: AbortSignal): Promise<ImagePlatforms | undefined>;
  /** The bytes of a manifest or index, checked against its digest; undefined for 404. Not cached. */
  readManifest(source: ImageSource, reference: string, signal?: AbortSignal): Promise<Manifest | undefined>;
  /** A blob of at most `maxBytes`, checked against its digest; undefined for 404. Not cached. */
  readBlob(source: ImageSource, digest: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer | undefined>;
  /** The descriptors of the manifests that refer to a digest, such as signatures and attestations; only those of `artifactType` if it is given. */
  listReferrers(source: ImageSource, digest: string, artifactType?: string, signal?: AbortSignal): Promise<readonly Descriptor[]>;
  /** What Harbor's API says of the scans of an image: of a manifest itself, or of each image of an index; undefined if the registry does not have the digest. */
  readScanReports(source: ImageSource, digest: string, signal?: AbortSignal): Promise<readonly ScannedImage[] | undefined>;
  /** All tags of a repository, from all pages of the list; undefined if the registry does not know the repository (404). */
  listTags(source: ImageSource, signal?: AbortSignal): Promise<string[] | undefined>;
  /** Whether a repository can be read, and with which credentials. Costs one cheap request for the tag or, without one, for the beginning of the tag list. */
  probe(source: ImageSource, tag: string | undefined, signal?: AbortSignal): Promise<Probe>;
  /** The route of requests to the API of a registry; undefined if the configuration does not allow the registry. */
  routeOf(registry: string): Route | undefined;
  /** Writes to a repository with only these credentials, also for reading what is written. `confirm` is called before each request that writes, and retries. */
  openPush(repository: Repository, credentials: CredentialSource, confirm?: Confirm): RegistryPush;
  /** Closes the connections after the last running request. */
  close(): Promise<void>;
}

export interface RegistryClientOptions {
  /** The settings of hosts. All other hosts have the defaults, with https. */
  registries: readonly RegistrySettings[];
  /** The hosts that may get requests; all hosts if empty. Link-local and metadata addresses are always refused. */
  allowedRegistries: readonly string[];
  /** Further hosts that the configuration names. Their failures are shown in full, even at private addresses. */
  namedHosts?: readonly string[];
  /** Whether errors show how private addresses answer, as a command on the user's own machine may; not unless given. */
  showsPrivate?: boolean;
  /** The proxies of requests; none unless given. */
  proxies?: Proxies;
  credentials: CredentialSource;
  /**
   * The known versions of a source's credentials. A request with newer credentials does not join a running request with older ones, whose answer may be a
   * refusal.
   */
  credentialVersions?: (source: ImageSource) => string;
  now?: () => number;
  random?: () => number;
  /** The DNS lookup; the system's unless given. */
  lookup?: LookupFunction;
  /** The connections of requests that use no proxy, to all hosts; those of the client unless given. */
  connections?: Dispatcher;
  /** Called after each request, for metrics. */
  onRequest?: (request: RequestRecord) => void;
  /** Called when the state of a host changes, for metrics and logs. */
  onHostEvent?: (event: HostEvent) => void;
  /** Shares the configured limits of hosts between replicas. Without it, each replica has the full limits. */
  sharedSlots?: SharedSlots;
  /** The time without a finished request of a host after which fewer requests may wait for it, in ms. */
  stuckAfterMs?: number;
  /** The memory limit of all answers that are being read, in bytes. */
  readingBytes?: number;
  /** The timeout of one request including its body, without the wait for a slot. */
  timeoutMs?: number;
}

/** Creates a client; throws an Error if a `caFile` cannot be read. */
export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { allowedRegistries, credentials, now = Date.now, random = Math.random, lookup, onRequest, timeoutMs = 10_000 } = options;
  const { onHostEvent: onEvent, sharedSlots: shared, stuckAfterMs, credentialVersions = () => '' } = options;
  const clock = { now, random };
  const registries = new Registries({
    registries: options.registries,
    allowedRegistries,
    namedHosts: options.namedHosts,
    showsPrivate: options.showsPrivate,
    proxies: options.proxies,
    timeoutMs,
    lookup,
    connections: options.connections,
  });
  const limits = new HostLimits({ settings: (host) => registries.settings(host), clock, timeoutMs, shared, onEvent, stuckAfterMs });
  const onDetails = (host: string, why: string) => onEvent?.({ host, kind: 'details', why });
  const { onHop, run } = createConcealment(registries, onDetails);
  const budget = createAnswerBudget({ clock, maxBytes: options.readingBytes, onEvent });
  const http = createHttp({ limits, budget, timeoutMs, onRequest, onHop });
  const tokens = new Tokens({ http, clock });
  const authenticate = (by: CredentialSource, versions: (source: ImageSource) => string) =>
    createAuthentication({ http, tokens, denials: createDenials(clock), credentials: by, credentialVersions: versions, onDetails });
  const send = authenticate(credentials, credentialVersions);
  const sendForList = conditional(send);
  const images = createImages(credentialVersions);
  const lists = new SingleFlight<string[] | undefined>();
  const open = (source: ImageSource, signal?: AbortSignal, by = send): Session => ({
    send: by,
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
    readTag: (source, tag, signal) =>
      run(source, async () => (countsPulls(source) ? headManifest : readManifest)(open(source, signal), tag), signal),
    whyUnusable: (source, digest, signal) => run(source, async () => images.whyUnusable(open(source, signal), digest), signal),
    readImage: (source, reference, signal) => run(source, async () => images.read(open(source, signal), reference), signal),
    readPlatforms: (source, reference, signal) => run(source, async () => images.readPlatforms(open(source, signal), reference), signal),
    readManifest: (source, reference, signal) => run(source, async () => readManifest(open(source, signal), reference), signal),
    readBlob: (source, digest, maxBytes, signal) => run(source, async () => readBlob(open(source, signal), digest, maxBytes), signal),
    listReferrers: (source, digest, artifactType, signal) =>
      run(source, async () => listReferrers(open(source, signal), digest, artifactType), signal),
    readScanReports: (source, digest, signal) => run(source, async () => readScanReports(open(source, signal), digest), signal),
    async listTags(source, signal) {
      const session = open(source);
      const key = sourceKey(source, credentialVersions(source));
      return run(source, () => lists.run(key, (signal) => listTags({ ...session, send: sendForList, signal }), signal), signal);
    },
    probe: (source, tag, signal) => run(source, async () => probeRepository(open(source, signal), tag), signal),
    routeOf: (registry) => registries.routeOf(registry),
    openPush(source, credentials, confirm) {
      const { registry, path } = source;
      const repository = { registry, path };
      const send = authenticate(credentials, () => '');
      return createPush(
        repository,
        (signal) => open(repository, signal, send),
        (request, signal) => run(repository, request, signal),
        confirm,
      );
    },
    close: () => registries.close(),
  };
}

function countsPulls({ registry }: ImageSource): boolean {
  return registry === 'docker.io';
}
