import { hash } from 'node:crypto';
import { isArtifactTag, isImageConfigType, isManifestType } from './artifact.ts';
import type { IgnoredReason } from './reasons.ts';
import { formatRepository, isDigest, isTag, normaliseRepository, type RegistryAliases, type Repository } from './image-reference.ts';

/** One pushed tag, as a registry announced it and in normal form: a hint of where to look, never an order. */
export interface PushEvent {
  /** Also the id of the queue's job and of the audit record. */
  readonly id: string;
  /** The sender gives no idempotency key: `id` is the same for every such push until the queue gives this one an id of its own. */
  readonly isUnkeyed?: true;
  readonly receiver: string;
  readonly provider: string;
  readonly repository: Repository;
  readonly tag: string;
  readonly digest?: string;
  /** RFC 3339, by our clock. */
  readonly receivedAt: string;
  /** By the sender's clock, where it tells one. */
  readonly pushedAt?: string;
  /** The event that somebody asked to do once more. */
  readonly replayOf?: string;
}

/** What a provider reads from a payload: names as the sender wrote them. */
export interface ClaimedPush {
  readonly registry?: string;
  readonly repository: string;
  /** Of a manager of many repositories: the key of the one that was pushed to, and what the image is called in it. */
  readonly within?: { readonly key: string; readonly image: string };
  readonly tag?: string;
  readonly digest?: string;
  /** Of the manifest. */
  readonly mediaType?: string;
  /** Of the manifest's config, which tells charts, signatures and the like from images. */
  readonly configMediaType?: string;
  /** What the sender repeats when it delivers the same push again, and never for another one; absent where it sends nothing of the kind. A hash of the body is none: the same tag may move there and back within the second that the body tells. */
  readonly idempotencyKey?: string;
  readonly pushedAt?: string;
}

/** Why a claimed push is not looked at further; the sender reads the reason in our answer. */
export interface IgnoredPush {
  readonly reason: string;
  /** The reason as a metric knows it; `OtherEvent` unless given. */
  readonly code?: IgnoredReason;
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
}

const digestTag = /^(?:sha256|sha512)(?::|__)[0-9a-f]{64,128}$/;
const timestamp = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Normalises what a provider read: a PushEvent, or why there is nothing to do. Pure: the clock is in the context. */
export function acceptPush(claimed: ClaimedPush, context: PushContext): PushEvent | IgnoredPush {
  const { repository: path, tag } = claimed;
  const ignored = (code: IgnoredReason, reason: string): IgnoredPush => ({
    code,
    reason,
    repository: path,
    ...(tag !== undefined && { tag }),
  });
  const host = context.registryOverride ?? claimed.registry;
  if (host === undefined || isBlankHost(host))
    return ignored('NoRegistry', 'the payload names no registry: set "registry" of the receiver in the configuration');
  const foreign = foreignMediaType(claimed);
  if (foreign !== undefined) return ignored('NotAnImage', `not an image: ${foreign}`);
  // Hex digits alone are a tag like others (the id of a commit or a build) unless they are those of the digest.
  const isDigestOfPush = tag === claimed.digest || tag === claimed.digest?.replace(/^[a-z0-9]+:/, '');
  if (tag === undefined || tag === '' || isDigestOfPush || digestTag.test(tag)) return ignored('NoTag', 'pushed by digest, without a tag');
  if (isArtifactTag(tag)) return ignored('Referrer', 'a signature, attestation or other referrer of an image');
  if (!isTag(tag)) return ignored('InvalidName', 'not a valid tag');
  const repository = tryNormalise(host, path, context.aliases);
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
    ...(claimed.pushedAt !== undefined && timestamp.test(claimed.pushedAt) && { pushedAt: claimed.pushedAt }),
  };
}

/** The media type that shows that the push is no image. */
function foreignMediaType({ mediaType, configMediaType }: ClaimedPush): string | undefined {
  // Some senders repeat the manifest's type in the field of the config's.
  if (configMediaType !== undefined && !isImageConfigType(configMediaType) && !isManifestType(configMediaType)) return configMediaType;
  if (mediaType !== undefined && !isManifestType(mediaType)) return mediaType;
  return undefined;
}

/** Whether a claimed push became an event. */
export function isPushEvent(push: PushEvent | IgnoredPush): push is PushEvent {
  return 'id' in push;
}

/** sha256 over the parts, in hex; unambiguous, because the parts are encoded as JSON. */
export function hashId(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts));
}

/** A host that is blank once normalised: not Docker Hub, whatever its normal form is. */
function isBlankHost(host: string): boolean {
  return !/[a-z0-9]/i.test(host.replace(/^\s*https?:\/\//i, '').replace(/:443\/*\s*$/, ''));
}

function tryNormalise(host: string, path: string, aliases: RegistryAliases): Repository | undefined {
  try {
    return normaliseRepository(host, path, aliases);
  } catch {
    return undefined;
  }
}
