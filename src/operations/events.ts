/** What the API answers about events: for each caller, what he may see. */
import { hashId, type PushEvent } from '../model/push-event.ts';
import type { EventRecord } from '../queue/event-record.ts';
import type { EventReader, Position } from '../queue/read-events.ts';
import { type Access, AccessError } from './authenticate.ts';
import { hasOutcome, namespacesOf, viewEvent, type EventOutcome, type EventView } from './event-view.ts';

export interface EventPorts {
  readonly reader: EventReader;
  /** Stores events as a receiver does; resolves when Redis has them. */
  readonly storePushes: (events: readonly PushEvent[]) => Promise<unknown>;
  readonly now: () => Date;
  /** A text that was never used before. */
  readonly unique: () => string;
}

export interface EventQuery {
  readonly limit: number;
  readonly repository?: string | undefined;
  readonly outcome?: EventOutcome | undefined;
  readonly before?: Position | undefined;
}

export interface EventPage {
  readonly events: readonly EventView[];
  /** Where the next page begins; absent at the end. A page may be shorter than requested, even empty, when many events had to be examined. */
  readonly next?: Position;
}

/** So many events are examined for one page at most, which bounds the cost of a rare outcome. */
const maxExamined = 2_000;

/** A page of events, newest first. */
export async function listEvents({ reader }: EventPorts, access: Access, query: EventQuery): Promise<EventPage> {
  const { limit, repository, outcome, before } = query;
  const events: EventView[] = [];
  let examined = 0;
  for await (const batch of reader.list({ repository, before, ignored: true })) {
    for (const record of batch) {
      const view = await viewFor(access, record);
      if (view !== undefined && (outcome === undefined || hasOutcome(view, outcome))) events.push(view);
      if (events.length >= limit || ++examined >= maxExamined) return { events, next: positionOf(record) };
    }
  }
  return { events };
}

/** One event; undefined when there is none that the caller may see. */
export async function readEvent({ reader }: EventPorts, access: Access, id: string): Promise<EventView | undefined> {
  const record = await reader.get(id);
  return record === undefined ? undefined : viewFor(access, record);
}

/** The event cannot be replayed, because a receiver ignored it and stored nothing. */
export class NotReplayable extends Error {
  override readonly name = 'NotReplayable';

  constructor(why: string) {
    super(`a receiver ignored this event, so that there is no push to replay (${why}); correct the cause, and push again`);
  }
}

/**
 * Processes a push once more, as a new event. The caller needs the right to update the policies that the push matched, or all policies where
 * they are not known. undefined when there is no such event; throws AccessError(403) or NotReplayable.
 */
export async function replayEvent(ports: EventPorts, access: Access, id: string): Promise<PushEvent | undefined> {
  const record = await ports.reader.get(id);
  if (record === undefined || (await viewFor(access, record)) === undefined) return undefined;
  if (record.state === 'ignored') throw new NotReplayable(`${record.event.reason}: ${record.event.message}`);
  const namespaces = namespacesOf(record);
  const questions = namespaces.length > 0 ? namespaces.map((namespace) => ({ namespace })) : [{}];
  for (const where of questions) {
    if (await access.may({ verb: 'update', ...where })) continue;
    const place = 'namespace' in where ? `the namespace ${where.namespace}` : 'all namespaces';
    throw new AccessError(403, `to replay this event you need the right to update imagepolicies in ${place}`);
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

/** Policies are shown to those who may get them; an event without policies to those who may list them in all namespaces. */
async function viewFor(access: Access, record: EventRecord): Promise<EventView | undefined> {
  const namespaces = namespacesOf(record);
  if (namespaces.length === 0) return (await access.may({ verb: 'list' })) ? viewEvent(record, undefined) : undefined;
  const seen = new Set<string>();
  for (const namespace of namespaces) if (await access.may({ verb: 'get', namespace })) seen.add(namespace);
  return viewEvent(record, seen);
}

function positionOf({ event }: EventRecord): Position {
  return { at: Date.parse(event.receivedAt), id: event.id };
}
