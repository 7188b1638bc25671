import type { ClaimedPush, IgnoredPush } from '../../model/push-event.ts';

/** A delivery as it came in; header names are in lower case. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** What a payload says, before anything of it is believed. */
export interface ParsedDelivery {
  readonly pushes: readonly ClaimedPush[];
  readonly ignored: readonly IgnoredPush[];
  /** What the sender has to hear instead of the usual body, with 200: the answer to a handshake. */
  readonly handshake?: Readonly<Record<string, unknown>>;
}

/**
 * How one kind of registry announces pushes: one file and one line in index.ts. Pure: no I/O, no clock. The receiver's
 * configuration chooses the provider, never the request.
 */
export interface Provider {
  /** The one id: in the configuration, as metric label and file name. */
  readonly id: string;
  /** The page that documents the sender's format. */
  readonly documentation: string;
  /** It manages several repositories, and says of each push which of them was pushed to (`within`). */
  readonly hasRepositories?: true;
  /**
   * Whether the sender proved that it knows one of the secrets; compares in constant time. Anybody can have it called with any request: it reads headers
   * and at the bytes of the body, and parses nothing.
   */
  verify(delivery: Delivery, secrets: readonly string[]): boolean;
  /** Reads a payload of any shape. Throws MalformedBody when it is not this sender's format, OversizedDelivery when it holds too much; never anything else. */
  parse(delivery: Delivery): ParsedDelivery;
}

/** The delivery holds more than one request may ask of us. Answered 413, with the message. */
export class OversizedDelivery extends Error {
  override readonly name = 'OversizedDelivery';
}

/** The body cannot be what this sender sends. Answered 200, so that no sender disables the hook; counted and logged. */
export class MalformedBody extends Error {
  override readonly name = 'MalformedBody';
}
