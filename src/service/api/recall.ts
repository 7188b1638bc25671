/** Remembers what was read from Redis last, for the time when it does not answer. */
import { repeat, type Repetition } from '../../core/async/repeat.ts';
import { backoffMs, requestBackoff } from '../../core/async/backoff.ts';
import { toSeconds } from '../../core/model/text.ts';
import type { EventRecord } from '../queue/event-record.ts';
import { compare, isAfter, type EventReader } from '../queue/read-events.ts';
import { isOfRepository } from '../queue/event-record.ts';
import type { InstallationPorts } from './ports.ts';

/** Something that was read. `asOf`: when, in RFC 3339, if it was read before and Redis does not answer now. */
export interface Recalled<T> {
  readonly value: T;
  readonly asOf?: string;
}

type Recall<F> = F extends (...args: infer A) => Promise<infer T> ? (...args: A) => Promise<Recalled<T>> : never;
export type RecalledInstallation = { readonly [Name in keyof InstallationPorts]: Recall<InstallationPorts[Name]> };

interface Clock {
  readonly now: () => Date;
  /** Whether it is known that Redis does not answer, so that nobody has to wait for it. */
  readonly isAway: () => boolean;
}

/** Reads the data about receivers and registries; what was read last if Redis does not answer. Rejects if nothing was read before. */
export function recallInstallation(
  { receivers, deliveries, running, announcements }: InstallationPorts,
  clock: Clock,
): RecalledInstallation {
  return {
    receivers: recall(receivers, clock),
    deliveries: recall(deliveries, clock),
    running: recall(running, clock),
    announcements: recall(announcements, clock),
  };
}

function recall<A extends readonly unknown[], T>(
  read: (...args: A) => Promise<T>,
  { now, isAway }: Clock,
): (...args: A) => Promise<Recalled<T>> {
  let last: { readonly key: string; readonly value: T; readonly at: Date } | undefined;
  return async (...args) => {
    const key = JSON.stringify(args);
    const old = last !== undefined && last.key === key ? { value: last.value, asOf: toSeconds(last.at) } : undefined;
    if (old !== undefined && isAway()) return old;
    try {
      const value = await read(...args);
      last = { key, value, at: now() };
      return { value };
    } catch (error) {
      if (old === undefined) throw error;
      return old;
    }
  };
}

/** The pushes that were read last. */
export interface EventMemory {
  /** Reads as the reader of the records, and remembers what it reads. */
  readonly reader: EventReader;
  /** Remembers the newest records. */
  note(records: readonly EventRecord[]): void;
  /** Reads what is remembered; undefined if nothing was read. `asOf`: when the newest were read, in RFC 3339. */
  past(): { readonly reader: EventReader; readonly asOf: string } | undefined;
  readonly isAway: () => boolean;
}

/** How many pushes are remembered, and how many results of theirs: a push may be of thousands of policies. */
const [maxRecords, maxResults] = [1_000, 20_000];

/** Creates a memory of what `reader` reads. */
export function recallEvents(reader: EventReader, { now, isAway }: Clock): EventMemory {
  const known = new Map<string, EventRecord>();
  let results = 0;
  let asOf: string | undefined;
  const forget = (id: string) => {
    results -= weightOf(known.get(id));
    known.delete(id);
  };
  const keep = (records: readonly EventRecord[]) => {
    for (const record of records) {
      forget(record.event.id);
      known.set(record.event.id, record);
      results += weightOf(record);
    }
    if (known.size <= maxRecords && results <= maxResults) return;
    for (const { event } of ordered(known.values()).toReversed()) if (known.size > maxRecords || results > maxResults) forget(event.id);
  };
  return {
    isAway,
    note(records) {
      keep(records);
      asOf = toSeconds(now());
    },
    reader: {
      async get(id) {
        const record = await reader.get(id);
        if (record !== undefined) keep([record]);
        return record;
      },
      async *list(query) {
        let isFirst = query.before === undefined && query.repository === undefined;
        for await (const batch of reader.list(query)) {
          keep(batch);
          if (isFirst) asOf = toSeconds(now());
          isFirst = false;
          yield batch;
        }
        if (isFirst) asOf = toSeconds(now());
      },
    },
    past: () => (asOf === undefined ? undefined : { asOf, reader: readerOf(known) }),
  };
}

function readerOf(known: ReadonlyMap<string, EventRecord>): EventReader {
  return {
    get: (id) => Promise.resolve(known.get(id)),
    // oxlint-disable-next-line typescript/require-await -- a reader like the other
    async *list({ repository, before }) {
      const isWanted = (record: EventRecord) =>
        (repository === undefined || isOfRepository(record, repository)) && (before === undefined || isAfter(positionOf(record), before));
      yield ordered(known.values()).filter(isWanted);
    },
  };
}

function ordered(records: Iterable<EventRecord>): EventRecord[] {
  return [...records].sort((a, b) => compare(positionOf(a), positionOf(b)));
}

function positionOf({ event }: EventRecord): { readonly at: number; readonly id: string } {
  return { at: Date.parse(event.receivedAt), id: event.id };
}

function weightOf(record: EventRecord | undefined): number {
  return record === undefined || record.state === 'ignored' ? 0 : record.results.size;
}

const refreshMs = 60_000;

/** Reads everything once a minute, so that it is remembered although nobody has asked for it. */
export function refreshMemory(read: readonly (() => Promise<unknown>)[]): Repetition {
  const readAll = async () => {
    for (const one of read) await one();
  };
  // What fails is reported elsewhere, as the state of Redis.
  return repeat(readAll, {
    everyMs: refreshMs,
    backoffMs: (failures) => backoffMs(failures, Math.random, requestBackoff),
    onProblem: () => undefined,
  });
}
