import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import type { ClaimedScan } from '../../../core/model/scan-event.ts';

/** A request of a sender; header names are in lower case. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** The content of a payload, not validated yet. */
export interface ParsedDelivery {
  readonly pushes: readonly ClaimedPush[];
  readonly ignored: readonly IgnoredPush[];
  /** The scans that have ended; only for senders with `announcesScans`. */
  readonly scans?: readonly ClaimedScan[];
  /** The response body (with status 200) that answers a handshake, in place of the usual one. */
  readonly handshake?: Readonly<Record<string, unknown>>;
}

/**
 * Authenticates and reads the webhooks of one kind of sender. Pure: no I/O, no clock. The receiver's configuration chooses the provider, never the request.
 */
export interface Provider {
  /** The provider's id in the configuration and in metric labels, which is also its file name. */
  readonly id: string;
  /** The page that documents the sender's format. */
  readonly documentation: string;
  /** Set for repository managers, whose pushes name the repository key they went to (`within`). */
  readonly hasRepositories?: true;
  /** Set for registries that may refuse an image until it is scanned, and announce the end of a scan. */
  readonly announcesScans?: true;
  /**
   * Whether the request proves that its sender knows one of the secrets; compares in constant time. It runs for unauthenticated requests, so it may read headers
   * and hash the body, but must not parse anything. `headers.ts` has a function for each way in which senders prove it.
   */
  verify(delivery: Delivery, secrets: readonly string[]): boolean;
  /**
   * Parses a payload, with `read-payload.ts`, which keeps it within the limits of a delivery. Throws only MalformedBody (not this sender's format) and
   * OversizedDelivery (too many entries or values).
   */
  parse(delivery: Delivery): ParsedDelivery;
}

/** Thrown when a delivery has more entries or values than one request may have. It is answered with 413 and the message. */
export class OversizedDelivery extends Error {
  override readonly name = 'OversizedDelivery';
}

/** Thrown when the body is not in the format of this sender. It is answered with 200, so that no sender disables its webhook, and counted and logged. */
export class MalformedBody extends Error {
  override readonly name = 'MalformedBody';
}
