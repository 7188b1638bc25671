import { hash } from 'node:crypto';
import { isArtifactTag, isChartConfigType, isManifestType, isProofType } from './artifact.ts';
import { defined } from './defined.ts';
import type { IgnoredReason } from './reasons.ts';
import { formatRepository, isDigest, isTag, tryNormaliseRepository, type RegistryAliases, type Repository } from './image-reference.ts';

/** One pushed tag in normal form, as a registry announced it. It is a hint about what to evaluate, not a command. */
export interface PushEvent {
  /** The id of the event, which is also that of the queue's job and of the audit record. */
  readonly id: string;
  /** Present if the sender gives no idempotency key. `id` is then the same for every such push until the queue assigns one. */
  readonly isUnkeyed?: true;
  readonly receiver: string;
  readonly provider: string;
  readonly repository: Repository;
  readonly tag: string;
  readonly digest?: string;
  /** The time of receipt by our clock, RFC 3339. */
  readonly receivedAt: string;
  /** The time of the push by the sender's clock, if the payload has one. */
  readonly pushedAt?: string;
  /** The push waits for the scan of its image until this time, RFC 3339. */
  readonly waitsUntil?: string;
  /** The event that a user asked to replay. */
  readonly replayOf?: string;
}

/** A push as a provider reads it from a payload, with names as the sender wrote them. */
export interface ClaimedPush {
  readonly registry?: string;
  /** Whether the image is at another registry than the sender: `registry` is then not replaced by the one of the receiver. */
  readonly isElsewhere?: true;
  readonly repository: string;
  /** The key of the repository at a repository manager, and the name of the image in it; absent for other senders. */
  readonly within?: { readonly key: string; readonly image: string };
  readonly tag?: string;
  readonly digest?: string;
  /** The media type of the manifest. */
  readonly mediaType?: string;
  /** The media type of the manifest's config. It distinguishes signatures and the like from what policies select. */
  readonly configMediaType?: string;
  /** The sender's id of a push, unique to it and the same for every delivery. A hash of the body is not unique: a tag may move there and back within 1 s. */
  readonly idempotencyKey?: string;
  readonly pushedAt?: string;
}

/** Why a claimed push is ignored. The response shows the reason to the sender, and `service/receive/report-delivery.ts` reports it. */
export interface IgnoredPush {
  readonly reason: string;
  /** The reason as a metric label; `OtherEvent` by default. */
  readonly code?: IgnoredReason;
  readonly registry?: string;
  readonly repository?: string;
  readonly tag?: string;
}

export interface PushContext {
  readonly receiver: string;
  readonly provider: string;
  /** The host that replaces the one in the payload. */
  readonly registryOverride?: string;
  readonly aliases: RegistryAliases;
  readonly now: Date;
  /** How long a push waits for the scan of its image, in ms; absent if it does not wait. */
  readonly scanWaitMs?: number;
}

const digestTag = /^(?:sha256|sha512)(?::|__)[0-9a-f]{64,128}$/;
const timestamp = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Normalises a claimed push: returns a PushEvent, or why the push is ignored. Pure: the clock is in the context. */
export function acceptPush(claimed: ClaimedPush, context: PushContext): PushEvent | IgnoredPush {
  const { repository: path, tag } = claimed;
  const host = claimed.isElsewhere === true ? claimed.registry : (context.registryOverride ?? claimed.registry);
  const ignored = (code: IgnoredReason, reason: string): IgnoredPush => ({
    code,
    reason,
    ...defined({ registry: host }),
    repository: path,
    ...defined({ tag }),
  });
  if (host === undefined || isBlankHost(host))
    return ignored('NoRegistry', 'the payload names no registry: set "registry" of the receiver in the configuration');
  const foreign = foreignMediaType(claimed);
  if (foreign !== undefined) return ignored('NotAnImage', `not an image or a chart: ${foreign}`);
  // A tag of hex digits is an ordinary tag (the id of a commit or a build), unless it equals the digest.
  const isDigestOfPush = tag === claimed.digest || tag === claimed.digest?.replace(/^[a-z0-9]+:/, '');
  if (tag === undefined || tag === '' || isDigestOfPush || digestTag.test(tag)) return ignored('NoTag', 'pushed by digest, without a tag');
  if (isArtifactTag(tag)) return ignored('Referrer', 'a signature, attestation or other referrer of an image');
  if (!isTag(tag)) return ignored('InvalidName', 'not a valid tag');
  const repository = tryNormaliseRepository(host, path, context.aliases);
  if (repository === undefined) return ignored('InvalidName', 'not a valid repository name');
  const digest = claimed.digest !== undefined && isDigest(claimed.digest) ? claimed.digest : undefined;
  return {
    id: hashId([context.receiver, claimed.idempotencyKey ?? '', formatRepository(repository), tag, digest ?? '']),
    ...(claimed.idempotencyKey === undefined && { isUnkeyed: true }),
    receiver: context.receiver,
    provider: context.provider,
    repository,
    tag,
    ...defined({ digest }),
    receivedAt: context.now.toISOString(),
    ...(context.scanWaitMs !== undefined && { waitsUntil: new Date(context.now.getTime() + context.scanWaitMs).toISOString() }),
    ...(claimed.pushedAt !== undefined && timestamp.test(claimed.pushedAt) && { pushedAt: claimed.pushedAt }),
  };
}

/**
 * The media type that shows that no policy selects what was pushed: a signature, an attestation, an SBOM, or something without a manifest. Whether charts and
 * other artifacts are selected depends on the policies, and on what the registry says.
 */
function foreignMediaType({ mediaType, configMediaType }: ClaimedPush): string | undefined {
  if (configMediaType !== undefined && isProofType(configMediaType)) return configMediaType;
  if (mediaType !== undefined && !isManifestType(mediaType) && !isChartConfigType(mediaType)) return mediaType;
  return undefined;
}

/** Whether a claimed push was accepted as an event. */
export function isPushEvent(push: PushEvent | IgnoredPush): push is PushEvent {
  return 'id' in push;
}

/** The sha256 of the parts in hex. It is unambiguous, because the parts are encoded as JSON. */
export function hashId(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts));
}

/** Whether a host is blank once normalised. A blank host does not mean Docker Hub, although its normal form does. */
function isBlankHost(host: string): boolean {
  return !/[a-z0-9]/i.test(host.replace(/^\s*https?:\/\//i, '').replace(/:443\/*\s*$/, ''));
}
