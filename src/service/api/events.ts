/** Lists, reads and replays events, limited to those that the caller may see. */
import { defined } from '../../core/model/defined.ts';
import type { Turns } from '../../core/async/turns.ts';
import { hashId, type PushEvent } from '../../core/model/push-event.ts';
import type { EventRecord } from '../queue/event-record.ts';
import type { EventReader, Position } from '../queue/read-events.ts';
import { type Access, AccessError } from './access.ts';
import type { EventMemory } from './recall.ts';
import { hasOutcome, namespacesOf, viewEvent, visibleNamespaces, type EventOutcome, type EventView } from './event-view.ts';

export interface EventPorts {
  readonly reader: EventReader;
  /** The pushes that were read last, for the time when Redis does not answer; absent where old ones are of no use. */
  readonly memory?: EventMemory | undefined;
  /** Stores events as a receiver does; resolves when Redis has them. */
  readonly storePushes: (events: readonly PushEvent[]) => Promise<unknown>;
  readonly now: () => Date;
  readonly unique: () => string;
  readonly turns: Pick<Turns, 'next'>;
}

export interface EventQuery {
  readonly limit: number;
  readonly repository?: string | undefined;
  readonly outcome?: EventOutcome | undefined;
  readonly receiver?: string | undefined;
  /** Only events of the namespace's policies. */
  readonly namespace?: string | undefined;
  readonly policy?: { readonly namespace: string; readonly name: string } | undefined;
  /** Limits the list to events of these policies, by their keys. */
  readonly among?: ReadonlySet<string> | undefined;
  /** Only events that were received at this time or later, in ms since 1970. */
  readonly since?: number | undefined;
  /** Only events that were received at this time or earlier, in ms since 1970. */
  readonly until?: number | undefined;
  /** Only events that announced this digest, or whose tag had it for a policy. */
  readonly digest?: string | undefined;
  readonly before?: Position | undefined;
}

export interface EventPage {
  readonly events: readonly EventView[];
  /** The position of the next page; absent on the last one. A page may be shorter than requested, even empty, because the number of examined events is limited. */
  readonly next?: Position;
  /** When the events were read, if Redis does not answer now. */
  readonly asOf?: string;
}

/** The maximum number of events that are examined for one page, which limits the cost of a query for a rare outcome. */
const maxExamined = 2_000;
/** The maximum number of namespaces that are checked for one page, because each costs a request to the API server. */
const maxNamespaces = 200;

/** A page of events, newest first; of what was read last if Redis does not answer. */
export function listEvents(
  { reader, memory, turns }: Pick<EventPorts, 'reader' | 'memory' | 'turns'>,
  access: Access,
  query: EventQuery,
): Promise<EventPage> {
  const list = (from: EventReader) => listFrom(from, access, query, turns);
  return orRecalled({ reader, memory }, async (from, asOf) => ({ ...(await list(from)), ...defined({ asOf }) }));
}

/** Reads from Redis, and from memory if Redis does not answer. */
async function orRecalled<T>(
  { reader, memory }: Pick<EventPorts, 'reader' | 'memory'>,
  read: (reader: EventReader, asOf?: string) => Promise<T>,
): Promise<T> {
  const past = memory?.past();
  if (past !== undefined && memory?.isAway() === true) return read(past.reader, past.asOf);
  try {
    return await read(reader);
  } catch (error) {
    if (error instanceof AccessError || past === undefined) throw error;
    return read(past.reader, past.asOf);
  }
}

async function listFrom(reader: EventReader, access: Access, query: EventQuery, turns: EventPorts['turns']): Promise<EventPage> {
  const { limit, repository, since = 0, until } = query;
  const before = query.before ?? (until === undefined ? undefined : { at: until + 1, id: '' });
  const events: EventView[] = [];
  let examined = 0;
  const asked = new Set<string>();
  for await (const batch of reader.list({ repository, before, ignored: true })) {
    await turns.next();
    for (const record of batch) {
      if (Date.parse(record.event.receivedAt) < since) return { events };
      const isOf = isConcerned(record, query);
      if (isOf) for (const one of namespacesOf(record)) asked.add(one);
      const view = isOf ? await viewFor(access, record) : undefined;
      if (view !== undefined && isWanted(view, query)) events.push(view);
      if (events.length >= limit || ++examined >= maxExamined || asked.size >= maxNamespaces) return { events, next: positionOf(record) };
    }
  }
  return { events };
}

/** Whether the policies of a push can be among the requested ones. If not, no permissions have to be checked. */
function isConcerned(record: EventRecord, query: EventQuery): boolean {
  if (isOfAny(query)) return true;
  return record.state !== 'ignored' && [...record.results.keys()].some((key) => isRequested(key, query));
}

/** Whether a query is not limited to some policies. */
function isOfAny({ policy, namespace, among }: EventQuery): boolean {
  return policy === undefined && namespace === undefined && among === undefined;
}

function isRequested(key: string, { policy, namespace, among }: EventQuery): boolean {
  if (policy !== undefined && key !== `${policy.namespace}/${policy.name}`) return false;
  if (namespace !== undefined && !key.startsWith(`${namespace}/`)) return false;
  return among === undefined || among.has(key);
}

function isWanted(view: EventView, query: EventQuery): boolean {
  const { outcome, receiver, digest } = query;
  if (receiver !== undefined && view.receiver !== receiver) return false;
  if (digest !== undefined && view.digest !== digest && !view.policies.some((one) => one.digest === digest)) return false;
  // The caller may see an event for another policy than the one that was asked for.
  const isOfOne = isOfAny(query) || view.policies.some(({ namespace, name }) => isRequested(`${namespace}/${name}`, query));
  return isOfOne && (outcome === undefined || hasOutcome(view, outcome));
}

/** Reads one event; undefined if there is none that the caller may see. */
export function readEvent(ports: EventPorts, access: Access, id: string): Promise<EventView | undefined> {
  return orRecalled(ports, async (reader) => {
    const record = await reader.get(id);
    return record === undefined ? undefined : viewFor(access, record);
  });
}

/** Thrown if the event cannot be replayed, because a receiver ignored it and stored nothing. */
export class NotReplayable extends Error {
  override readonly name = 'NotReplayable';

  constructor(why: string) {
    super(`a receiver ignored this event, so that there is no push to replay (${why}); correct the cause, and push again`);
  }
}

/**
 * Processes a push again, as a new event. The caller needs permission to update the policies that the push matched, or all policies if those are not known yet.
 * Returns undefined if the event does not exist; throws AccessError(403) or NotReplayable.
 */
export async function replayEvent(ports: EventPorts, access: Access, id: string): Promise<PushEvent | undefined> {
  const record = await ports.reader.get(id);
  if (record === undefined || (await viewFor(access, record)) === undefined) return undefined;
  if (record.state === 'ignored') throw new NotReplayable(`${record.event.reason}: ${record.event.message}`);
  const namespaces = namespacesOf(record);
  const questions = namespaces.length > 0 ? namespaces.map((namespace) => ({ namespace })) : [{}];
  for (const where of questions) {
    if (await access.may({ verb: 'update', ...where })) continue;
    const isVisible = 'namespace' in where && (await access.may({ verb: 'get', namespace: where.namespace }));
    const scope = isVisible ? `the namespace ${where.namespace}` : 'all namespaces';
    throw new AccessError(403, `to replay this event you need permission to update imagepolicies in ${scope}`);
  }
  const replay: PushEvent = {
    ...record.event,
    id: hashId(['replay', id, ports.unique()]),
    replayOf: id,
    receivedAt: ports.now().toISOString(),
  };
  await ports.storePushes([replay]);
  return replay;
}

/** The view for a caller: all of it with permission to list policies in all namespaces; otherwise the policies that the caller may get and that have read the repository. */
async function viewFor(access: Access, record: EventRecord): Promise<EventView | undefined> {
  if (await access.may({ verb: 'list' })) return viewEvent(record, undefined);
  const seen = new Set<string>();
  for (const namespace of visibleNamespaces(record)) if (await access.may({ verb: 'get', namespace })) seen.add(namespace);
  return viewEvent(record, seen);
}

function positionOf({ event }: EventRecord): Position {
  return { at: Date.parse(event.receivedAt), id: event.id };
}
