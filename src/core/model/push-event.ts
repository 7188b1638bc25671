import { hash } from 'node:crypto';
import { isArtifactTag, isImageConfigType, isManifestType } from './artifact.ts';
import type { IgnoredReason } from './reasons.ts';
import { formatRepository, isDigest, isTag, tryNormaliseRepository, type RegistryAliases, type Repository } from './image-reference.ts';

/** One pushed tag, as a registry announced it and in normal form: a hint about what to evaluate, never an order. */
export interface PushEvent {
  /** Also the id of the queue's job and of the audit record. */
  readonly id: string;
  /** The sender gives no idempotency key: `id` is the same for every such push until the queue gives this one its own id. */
  readonly isUnkeyed?: true;
  readonly receiver: string;
  readonly provider: string;
  readonly repository: Repository;
  readonly tag: string;
  readonly digest?: string;
  /** RFC 3339, by our clock. */
  readonly receivedAt: string;
  /** By the sender's clock, if the payload has a time. */
  readonly pushedAt?: string;
  /** RFC 3339: until then, the push waits for the scan of its image. */
  readonly waitsUntil?: string;
  /** The event that somebody asked to replay. */
  readonly replayOf?: string;
}

/** What a provider reads from a payload: names as the sender wrote them. */
export interface ClaimedPush {
  readonly registry?: string;
  readonly repository: string;
  /** For a repository manager: the key of the repository that was pushed to, and the name of the image in it. */
  readonly within?: { readonly key: string; readonly image: string };
  readonly tag?: string;
  readonly digest?: string;
  /** The media type of the manifest. */
  readonly mediaType?: string;
  /** The media type of the manifest's config, which distinguishes images from charts, signatures and the like. */
  readonly configMediaType?: string;
  /** The sender's id of a push, the same for every delivery of it and never used for another; absent if the sender has none. A hash of the body cannot replace it: a tag may move there and back within the one second that the body's time can resolve. */
  readonly idempotencyKey?: string;
  readonly pushedAt?: string;
}

/** Why a claimed push is ignored; the response shows the reason to the sender. */
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
  /** Replaces the host that the payload claims. */
  readonly registryOverride?: string;
  readonly aliases: RegistryAliases;
  readonly now: Date;
  /** How long a push waits for the scan of its image; it does not unless given. */
  readonly scanWaitMs?: number;
}

const digestTag = /^(?:sha256|sha512)(?::|__)[0-9a-f]{64,128}$/;
const timestamp = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Normalises what a provider read: a PushEvent, or why the push is ignored. Pure: the clock is in the context. */
export function acceptPush(claimed: ClaimedPush, context: PushContext): PushEvent | IgnoredPush {
  const { repository: path, tag } = claimed;
  const host = context.registryOverride ?? claimed.registry;
  const ignored = (code: IgnoredReason, reason: string): IgnoredPush => ({
    code,
    reason,
    ...(host !== undefined && { registry: host }),
    repository: path,
    ...(tag !== undefined && { tag }),
  });
  if (host === undefined || isBlankHost(host))
    return ignored('NoRegistry', 'the payload names no registry: set "registry" of the receiver in the configuration');
  const foreign = foreignMediaType(claimed);
  if (foreign !== undefined) return ignored('NotAnImage', `not an image: ${foreign}`);
  // A tag of hex digits alone is an ordinary tag (the id of a commit or a build), unless they are those of the digest.
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
    ...(digest !== undefined && { digest }),
    receivedAt: context.now.toISOString(),
    ...(context.scanWaitMs !== undefined && { waitsUntil: new Date(context.now.getTime() + context.scanWaitMs).toISOString() }),
    ...(claimed.pushedAt !== undefined && timestamp.test(claimed.pushedAt) && { pushedAt: claimed.pushedAt }),
  };
}

/** The media type that shows that the push is not an image. */
function foreignMediaType({ mediaType, configMediaType }: ClaimedPush): string | undefined {
  // Some senders repeat the manifest's media type in the field for the config's.
  if (configMediaType !== undefined && !isImageConfigType(configMediaType) && !isManifestType(configMediaType)) return configMediaType;
  if (mediaType !== undefined && !isManifestType(mediaType)) return mediaType;
  return undefined;
}

/** Whether a claimed push was accepted as an event. */
export function isPushEvent(push: PushEvent | IgnoredPush): push is PushEvent {
  return 'id' in push;
}

/** sha256 over the parts, in hex; unambiguous, because the parts are encoded as JSON. */
export function hashId(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts));
}

/** Whether a host is blank once normalised: it does not mean Docker Hub, whatever its normal form is. */
function isBlankHost(host: string): boolean {
  return !/[a-z0-9]/i.test(host.replace(/^\s*https?:\/\//i, '').replace(/:443\/*\s*$/, ''));
}
