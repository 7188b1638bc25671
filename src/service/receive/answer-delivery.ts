/** Processes a delivery apart from HTTP: authenticates its sender, counts it, reads its payload and stores its pushes. */
import { defined } from '../../core/model/defined.ts';
import type { RegistryAliases } from '../../core/model/image-reference.ts';
import type { IgnoredPush, PushEvent } from '../../core/model/push-event.ts';
import type { ScanEvent } from '../../core/model/scan-event.ts';
import { authenticate, type Authentication } from './authenticate.ts';
import { MalformedBody, OversizedDelivery, type Delivery } from './providers/provider.ts';
import { readDelivery, readPushes, type ReceiverNames } from './read-delivery.ts';

/** A configured endpoint for one sender. */
export interface Receiver extends Authentication, ReceiverNames {
  readonly requestsPerMinute?: number | undefined;
  /** Whether senders may ask what became of their deliveries. */
  readonly showsResults?: boolean | undefined;
}

/** Stores events. Resolves when Redis has confirmed them, with the ids of their jobs. */
export type StorePushes = (events: readonly PushEvent[]) => Promise<readonly PushEvent[]>;

export interface DeliveryContext {
  readonly aliases: RegistryAliases;
  readonly storePushes: StorePushes;
  /** Starts the pushes that wait for a scan which has now ended. */
  readonly endScan: (scan: ScanEvent) => Promise<unknown>;
  /** Stores that reports of scans are there, for the policies that ask for them. Resolves when Redis has confirmed it. */
  readonly storeScans: (scans: readonly ScanEvent[]) => Promise<unknown>;
  /** Why no push can be stored at present (Redis is unreachable or nearly full); undefined if pushes can be stored. */
  readonly refusal: () => string | undefined;
  readonly startWaiting: StartWaiting;
  readonly now: () => Date;
  /** Counts a request of a receiver. Resolves to 0 if it is within the rate limit, otherwise to the seconds until the next request is. */
  readonly countRequest: (receiver: Receiver) => Promise<number>;
}

export type Answer =
  | {
      readonly status: 202 | 200;
      readonly accepted: readonly PushEvent[];
      readonly ignored: readonly IgnoredPush[];
      readonly malformed?: string;
      readonly handshake?: Readonly<Record<string, unknown>>;
    }
  | { readonly status: 401; readonly why: string; readonly claim?: string | undefined }
  | { readonly status: 413 | 503; readonly why: string }
  | { readonly status: 429; readonly retryAfterSeconds: number };

/** The maximum number of ignored entries that a response lists; the others are only counted. */
const maxListed = 20;
/** The maximum length of a name in a response; no repository or tag is longer. */
const maxNameLength = 256;

/** Answers a delivery. Requests that are not authenticated are not counted, so that they cannot use up the receiver's rate limit. */
export async function answerDelivery(
  delivery: Delivery,
  token: string | undefined,
  receiver: Receiver,
  context: DeliveryContext,
): Promise<Answer> {
  const result = await authenticate(delivery, token, receiver);
  if (result.kind === 'refused') return { status: 401, why: result.why, claim: result.claim };
  if (result.kind === 'unavailable') return { status: 503, why: result.why };
  const retryAfterSeconds = await context.countRequest(receiver);
  if (retryAfterSeconds > 0) return { status: 429, retryAfterSeconds };
  result.onAdmitted?.();
  return processDelivery(delivery, receiver, context);
}

/** Reads an authentic delivery and stores its pushes. */
async function processDelivery(delivery: Delivery, receiver: Receiver, context: DeliveryContext): Promise<Answer> {
  const parsed = readDelivery(delivery, receiver);
  if (parsed instanceof OversizedDelivery) return { status: 413, why: parsed.message };
  if (parsed instanceof MalformedBody) {
    const reason = `not understood: ${parsed.message}; does the sender match the receiver's provider, ${receiver.provider.id}?`;
    return { status: 200, accepted: [], ignored: [{ reason, code: 'Malformed' }], malformed: parsed.message };
  }
  if (parsed.handshake !== undefined) return { status: 200, accepted: [], ignored: parsed.ignored, handshake: parsed.handshake };
  const { pushes, scans, ignored } = readPushes(parsed, receiver, { aliases: context.aliases, now: context.now() });
  const accepted = pushes.map(({ event }) => event);
  const isHeard = receiver.waitForScan === true || scans.some(({ hasReport }) => hasReport);
  if (accepted.length === 0 && !(isHeard && scans.length > 0)) return { status: 200, accepted, ignored };
  const refusal = context.refusal();
  if (refusal !== undefined) return { status: 503, why: refusal };
  const stopWaiting = context.startWaiting({ bodyBytes: delivery.body.length, pushes: accepted.length });
  if (stopWaiting === undefined) return { status: 503, why: 'too many deliveries wait for Redis' };
  try {
    if (receiver.waitForScan === true) for (const scan of scans) await context.endScan(scan);
    await context.storeScans(scans.filter(({ hasReport }) => hasReport));
    if (accepted.length === 0) return { status: 200, accepted, ignored };
    return { status: 202, accepted: await context.storePushes(accepted), ignored };
  } catch (error) {
    return { status: 503, why: `Redis did not confirm: ${error instanceof Error ? error.message : String(error)}` };
  } finally {
    stopWaiting();
  }
}

/** The body of an answer with 200 or 202. `deliveryIds`: the ids by which the sender may ask for what became of it, by event. */
export function toResponseBody(
  answer: Extract<Answer, { accepted: unknown }>,
  deliveryIds: ReadonlyMap<string, string> = new Map(),
): Readonly<Record<string, unknown>> {
  if (answer.handshake !== undefined) return answer.handshake;
  return {
    accepted: answer.accepted.map(({ id, repository, tag, digest }) => ({
      id,
      registry: repository.registry,
      repository: repository.path,
      tag,
      ...defined({ digest, delivery: deliveryIds.get(id) }),
    })),
    // The response contains the sentence `reason` and not the code, which is for metrics only.
    ignored: answer.ignored.slice(0, maxListed).map(({ reason, repository, tag }) => ({
      reason,
      ...(repository !== undefined && { repository: repository.slice(0, maxNameLength) }),
      ...(tag !== undefined && { tag: tag.slice(0, maxNameLength) }),
    })),
    ...(answer.ignored.length > maxListed && { ignoredMore: answer.ignored.length - maxListed }),
  };
}

/** The limit for the memory of all deliveries that wait for Redis. It is enough for thousands of ordinary ones, and far below the container's memory. */
const maxWaitingBytes = 64 * 1024 * 1024;
/** The memory of a waiting delivery apart from its body: the request, its connection, promises. */
const bytesPerDelivery = 10_000;
/** The memory of each push of a waiting delivery: the event, and the command that is sent to Redis. */
const bytesPerPush = 3_000;

/** Lets a delivery of this size wait for Redis, and returns the function that ends its wait; undefined if too many wait already. */
export type StartWaiting = (size: { readonly bodyBytes: number; readonly pushes: number }) => (() => void) | undefined;

/** Bounds the memory of the deliveries that wait for Redis while it hangs. Each listener has a bound of its own. A single delivery of any size may wait. */
export function boundWaiting(): StartWaiting {
  let waitingBytes = 0;
  return ({ bodyBytes, pushes }) => {
    const bytes = bytesPerDelivery + bodyBytes + pushes * bytesPerPush;
    if (waitingBytes > 0 && waitingBytes + bytes > maxWaitingBytes) return undefined;
    waitingBytes += bytes;
    return () => void (waitingBytes -= bytes);
  };
}
