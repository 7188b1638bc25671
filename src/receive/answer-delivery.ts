/** The story of one delivery: who is it, what does it say, is it stored. Everything but the HTTP around it. */
import { acceptPush, isPushEvent, type IgnoredPush, type PushEvent } from '../model/push-event.ts';
import type { RegistryAliases } from '../model/image-reference.ts';
import type { Authentication } from './authenticate.ts';
import { limitEntries } from './providers/entries.ts';
import { MalformedBody, OversizedDelivery, type Delivery, type ParsedDelivery, type Provider } from './providers/provider.ts';
import { pulledNames, type PulledNames } from './pulled-names.ts';
import type { StartWaiting } from './waiting-deliveries.ts';

/** A configured endpoint for one sender. */
export interface Receiver extends Authentication {
  readonly name: string;
  readonly registryOverride?: string | undefined;
  readonly repositories?: PulledNames | undefined;
  readonly requestsPerMinute?: number | undefined;
}

/** Stores events; resolves when Redis has them, with the ids under which it has them. */
export type StorePushes = (events: readonly PushEvent[]) => Promise<readonly PushEvent[]>;

export interface DeliveryContext {
  readonly aliases: RegistryAliases;
  readonly storePushes: StorePushes;
  /** Why nothing can be stored at present (Redis away or nearly full), or undefined. */
  readonly refusal: () => string | undefined;
  readonly startWaiting: StartWaiting;
  readonly now: () => Date;
}

export type DeliveryAnswer =
  | {
      readonly status: 202 | 200;
      readonly accepted: readonly PushEvent[];
      readonly ignored: readonly IgnoredPush[];
      readonly malformed?: string;
      readonly handshake?: Readonly<Record<string, unknown>>;
    }
  | { readonly status: 413 | 503; readonly why: string };

/** So many of the ignored entries are listed in an answer; the rest is counted. */
const maxListed = 20;
/** Longer than any repository or tag can be. */
const maxNameLength = 256;

/** Reads an authentic delivery, stores its pushes, and says what to answer. */
export async function answerDelivery(delivery: Delivery, receiver: Receiver, context: DeliveryContext): Promise<DeliveryAnswer> {
  const parsed = readDelivery(delivery, receiver);
  if (parsed instanceof OversizedDelivery) return { status: 413, why: parsed.message };
  if (parsed instanceof MalformedBody) {
    const ignored = [{ reason: `not understood: ${parsed.message}`, code: 'Malformed' as const }];
    return { status: 200, accepted: [], ignored, malformed: parsed.message };
  }
  if (parsed.handshake !== undefined) return { status: 200, accepted: [], ignored: parsed.ignored, handshake: parsed.handshake };
  const results = parsed.pushes.map((push) =>
    acceptPush(push, {
      receiver: receiver.name,
      provider: receiver.provider.id,
      ...(receiver.registryOverride !== undefined && { registryOverride: receiver.registryOverride }),
      aliases: context.aliases,
      now: context.now(),
    }),
  );
  const accepted = [...new Map(results.filter(isPushEvent).map((event) => [event.id, event])).values()];
  const ignored = [...parsed.ignored, ...results.filter((result): result is IgnoredPush => !isPushEvent(result))];
  if (accepted.length === 0) return { status: 200, accepted, ignored };
  const refusal = context.refusal();
  if (refusal !== undefined) return { status: 503, why: refusal };
  const stopWaiting = context.startWaiting({ bodyBytes: delivery.body.length, pushes: accepted.length });
  if (stopWaiting === undefined) return { status: 503, why: 'too many deliveries wait for Redis' };
  try {
    return { status: 202, accepted: await context.storePushes(accepted), ignored };
  } catch (error) {
    return { status: 503, why: `Redis did not confirm: ${error instanceof Error ? error.message : String(error)}` };
  } finally {
    stopWaiting();
  }
}

/** The body as it is answered. */
export function toResponseBody(answer: Extract<DeliveryAnswer, { accepted: unknown }>): Readonly<Record<string, unknown>> {
  if (answer.handshake !== undefined) return answer.handshake;
  return {
    accepted: answer.accepted.map(({ id, repository, tag, digest }) => ({
      id,
      registry: repository.registry,
      repository: repository.path,
      tag,
      ...(digest !== undefined && { digest }),
    })),
    // Codes are for metrics; the sender reads the sentence.
    ignored: answer.ignored.slice(0, maxListed).map(({ reason, repository, tag }) => ({
      reason,
      ...(repository !== undefined && { repository: repository.slice(0, maxNameLength) }),
      ...(tag !== undefined && { tag: tag.slice(0, maxNameLength) }),
    })),
    ...(answer.ignored.length > maxListed && { ignoredMore: answer.ignored.length - maxListed }),
  };
}

/** Reads a payload within the limits of a delivery, with the names that the receiver's configuration gives to repositories. Pure; what is wrong with it is a value. */
export function readDelivery(
  delivery: Delivery,
  { provider, repositories }: { readonly provider: Provider; readonly repositories?: PulledNames | undefined },
): ParsedDelivery | MalformedBody | OversizedDelivery {
  try {
    const parsed = provider.parse(delivery);
    const pushes = parsed.pushes.flatMap((push) => pulledNames(push, repositories));
    limitEntries(pushes.length + parsed.ignored.length);
    return { ...parsed, pushes };
  } catch (error) {
    if (error instanceof MalformedBody || error instanceof OversizedDelivery) return error;
    throw error;
  }
}
