/** Reads an authentic delivery: parses its payload and applies the receiver's configured image names. Pure; problems are returned, not thrown. */
import { defined } from '../../core/model/defined.ts';
import { tryNormaliseRepository, type RegistryAliases } from '../../core/model/image-reference.ts';
import { acceptPush, isPushEvent, type ClaimedPush, type IgnoredPush, type PushEvent } from '../../core/model/push-event.ts';
import { acceptScan, isScanEvent, scanWaitMs, type ScanEvent } from '../../core/model/scan-event.ts';
import { MalformedBody, OversizedDelivery, type Delivery, type ParsedDelivery, type Provider } from './providers/provider.ts';
import { limitEntries } from './providers/read-payload.ts';

/**
 * Maps repository keys of repository managers (Artifactory, Nexus) to the names under which clients pull the images. By key, or `*` for all others: one or several
 * prefixes of image names, `HOST[:PORT][/PATH]`; `{key}` is replaced by the key.
 */
export type PulledNames = Readonly<Record<string, string | readonly string[]>>;

/** The settings of a receiver that determine how its deliveries are read. */
export interface ReceiverNames {
  readonly name: string;
  readonly provider: Provider;
  /** The receiver's setting `registry`, which replaces the host that payloads claim. */
  readonly registryOverride?: string | undefined;
  /** The setting `repositories` of the receiver. */
  readonly repositories?: PulledNames | undefined;
  /** The receiver's setting `waitForScan`: whether a push waits until its image is scanned. */
  readonly waitForScan?: boolean | undefined;
}

/** A push that is to be stored, and the idempotency key that its sender gave it, if any. */
export interface AcceptedPush {
  readonly event: PushEvent;
  readonly idempotencyKey?: string;
}

/** Parses a payload within the limits of a delivery. */
export function readDelivery(
  delivery: Delivery,
  { provider, repositories }: ReceiverNames,
): ParsedDelivery | MalformedBody | OversizedDelivery {
  try {
    const parsed = provider.parse(delivery);
    const pushes = parsed.pushes.flatMap((push) => pulledNames(push, repositories));
    limitEntries(pushes.length + parsed.ignored.length + (parsed.scans?.length ?? 0));
    return { ...parsed, pushes };
  } catch (error) {
    if (error instanceof MalformedBody || error instanceof OversizedDelivery) return error;
    throw error;
  }
}

/** The pushes of a parsed delivery, normalised and without duplicate ids, the scans that have ended, and what is ignored. */
export function readPushes(
  parsed: ParsedDelivery,
  { name, provider, registryOverride, waitForScan = false }: ReceiverNames,
  { aliases, now }: { readonly aliases: RegistryAliases; readonly now: Date },
): { readonly pushes: readonly AcceptedPush[]; readonly scans: readonly ScanEvent[]; readonly ignored: readonly IgnoredPush[] } {
  const context = {
    receiver: name,
    provider: provider.id,
    aliases,
    now,
    ...defined({ registryOverride }),
    ...(waitForScan && { scanWaitMs }),
  };
  const pushes = new Map<string, AcceptedPush>();
  const ignored = [...parsed.ignored];
  for (const claimed of parsed.pushes) {
    const event = acceptPush(claimed, context);
    const { idempotencyKey } = claimed;
    if (isPushEvent(event)) pushes.set(event.id, { event, ...defined({ idempotencyKey }) });
    else ignored.push(event);
  }
  const scans: ScanEvent[] = [];
  for (const { type, ...claimed } of parsed.scans ?? []) {
    const scan = acceptScan({ type, ...claimed }, context);
    if (isScanEvent(scan)) scans.push(scan);
    if (!waitForScan) ignored.push({ reason: `not a push: ${type}`, repository: claimed.repository });
    else if (!isScanEvent(scan)) ignored.push(scan);
  }
  return { pushes: [...pushes.values()], scans, ignored };
}

export interface Simulation {
  /** What would happen to the delivery. `accept`: 202. `ignore`, `malformed`, `handshake`: 200, and nothing is stored. `refuse`: 413. */
  readonly decision: 'accept' | 'ignore' | 'malformed' | 'handshake' | 'refuse';
  readonly pushes: readonly AcceptedPush[];
  readonly ignored: readonly IgnoredPush[];
  /** The problem of a malformed body. */
  readonly malformed?: string;
  /** Why the whole delivery is refused. */
  readonly refused?: string;
}

/** A receiver for `simulateDelivery`, which needs neither secrets nor a queue. */
export interface SimulatedReceiver extends ReceiverNames {
  readonly aliases: RegistryAliases;
}

/** Reads a delivery as `answerDelivery` would, without authentication and queue, and returns what would be stored. */
export function simulateDelivery(delivery: Delivery, receiver: SimulatedReceiver, now: Date): Simulation {
  const parsed = readDelivery(delivery, receiver);
  if (parsed instanceof OversizedDelivery) return { decision: 'refuse', pushes: [], ignored: [], refused: parsed.message };
  if (parsed instanceof MalformedBody) return { decision: 'malformed', pushes: [], ignored: [], malformed: parsed.message };
  if (parsed.handshake !== undefined) return { decision: 'handshake', pushes: [], ignored: parsed.ignored };
  const { pushes, scans, ignored: others } = readPushes(parsed, receiver, { aliases: receiver.aliases, now });
  const ignored = [
    ...others,
    ...(receiver.waitForScan === true ? scans : []).map(({ repository }) => ({
      reason: 'a scan has ended: the pushes that wait for it start',
      registry: repository.registry,
      repository: repository.path,
    })),
  ];
  return { decision: pushes.length > 0 ? 'accept' : 'ignore', pushes, ignored };
}

const placeholder = '{key}';
/** Matches a repository key without characters that could change the host of an image name. Senders choose the key. */
const plainKey = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i;

/** One push under each name that the configuration gives to its repository, or under the sender's name if it gives none. */
export function pulledNames(push: ClaimedPush, names: PulledNames | undefined): readonly ClaimedPush[] {
  if (names === undefined || push.within === undefined) return [push];
  const { key, image } = push.within;
  const name = Object.hasOwn(names, key) ? key : '*';
  const prefixes = [(Object.hasOwn(names, name) ? names[name] : undefined) ?? []].flat();
  if (prefixes.length === 0 || (!plainKey.test(key) && prefixes.some((prefix) => prefix.includes(placeholder)))) return [push];
  return prefixes.map((prefix) => {
    const [registry = '', ...path] = prefix.replaceAll(placeholder, () => key).split('/');
    return { ...push, registry, repository: [...path, image].join('/') };
  });
}

/** Whether names of images can begin with this prefix. */
export function isNamePrefix(prefix: string): boolean {
  const [registry = '', ...path] = prefix.replaceAll(placeholder, 'key').split('/');
  const full = [...path, 'image', 'name'].join('/');
  return registry !== '' && tryNormaliseRepository(registry, full)?.path === full;
}
