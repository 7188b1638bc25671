import type { RegistryAliases } from '../model/image-reference.ts';
import { acceptPush, isPushEvent, type IgnoredPush, type PushEvent } from '../model/push-event.ts';
import { readDelivery } from './answer-delivery.ts';
import { MalformedBody, OversizedDelivery, type Delivery, type Provider } from './providers/provider.ts';
import type { PulledNames } from './pulled-names.ts';

export interface SimulatedReceiver {
  readonly name: string;
  readonly provider: Provider;
  /** The receiver's `registry`. */
  readonly registryOverride?: string | undefined;
  /** The receiver's `repositories`. */
  readonly repositories?: PulledNames | undefined;
  readonly aliases: RegistryAliases;
}

/** A push that would be stored, and the sender's key for it, if it sends one. */
export interface SimulatedPush {
  readonly event: PushEvent;
  readonly idempotencyKey?: string;
}

export interface Simulation {
  /** `accept`: 202. `ignore`, `malformed`, `handshake`: 200, and nothing is stored. `refuse`: 413. */
  readonly decision: 'accept' | 'ignore' | 'malformed' | 'handshake' | 'refuse';
  readonly pushes: readonly SimulatedPush[];
  readonly ignored: readonly IgnoredPush[];
  /** What is wrong with the body. */
  readonly malformed?: string;
  /** Why it is refused. */
  readonly refused?: string;
}

/** What an authentic delivery would do, without a queue: the same reading as `answerDelivery`. Pure. */
export function simulateDelivery(delivery: Delivery, receiver: SimulatedReceiver, now: Date): Simulation {
  const { name, provider, registryOverride, aliases } = receiver;
  const parsed = readDelivery(delivery, receiver);
  if (parsed instanceof OversizedDelivery) return { decision: 'refuse', pushes: [], ignored: [], refused: parsed.message };
  if (parsed instanceof MalformedBody) return { decision: 'malformed', pushes: [], ignored: [], malformed: parsed.message };
  if (parsed.handshake !== undefined) return { decision: 'handshake', pushes: [], ignored: parsed.ignored };
  const pushes = new Map<string, SimulatedPush>();
  const ignored = [...parsed.ignored];
  const context = { receiver: name, provider: provider.id, aliases, now, ...(registryOverride !== undefined && { registryOverride }) };
  for (const claimed of parsed.pushes) {
    const event = acceptPush(claimed, context);
    const { idempotencyKey } = claimed;
    if (isPushEvent(event)) pushes.set(event.id, { event, ...(idempotencyKey !== undefined && { idempotencyKey }) });
    else ignored.push(event);
  }
  return { decision: pushes.size > 0 ? 'accept' : 'ignore', pushes: [...pushes.values()], ignored };
}
