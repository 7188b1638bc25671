/** Finds the newest audit records that are new, or have changed. */
import { createHash } from 'node:crypto';
import type { Turns } from '../../core/async/turns.ts';
import type { RedisConnection } from './connection.ts';
import { eventKeys, readHash, type EventRecord } from './event-record.ts';

/** How many of the newest pushes are compared, and how many of those that nobody watches or a receiver ignored, which only users see who see all. */
const [newest, newestOthers] = [100, 20];
/** A record with more fields is only read when their number changes: it may be of thousands of policies. */
const maxFields = 200;

interface Seen {
  readonly fields: number;
  readonly hash: string;
}

/** How many records are read at once, so that pushes do not wait until all are compared. */
const together = 16;

/** Creates a reader of the records that are new, or have changed, since its last call; at first of all the newest. */
export function createChangedEvents(
  redis: RedisConnection,
  prefix: string,
  turns: Pick<Turns, 'next'>,
): () => Promise<readonly EventRecord[]> {
  const keys = eventKeys(prefix);
  const indexes = [[keys.byTime, newest] as const, [keys.unwatched, newestOthers] as const, [keys.ignored, newestOthers] as const];
  let seen = new Map<string, Seen>();

  /** Reads a record; undefined for a large one that has as many fields as before. */
  const readOne = async (id: string) => {
    const { fields = 0 } = seen.get(id) ?? {};
    if (fields > maxFields && (await redis.hlen(keys.hash(id))) === fields) return undefined;
    return redis.hgetall(keys.hash(id));
  };

  return async () => {
    const ids = [...new Set((await Promise.all(indexes.map(([index, count]) => redis.zrevrange(index, 0, count - 1)))).flat())];
    const now = new Map<string, Seen>();
    const changed: EventRecord[] = [];
    for (let start = 0; start < ids.length; start += together) {
      const some = ids.slice(start, start + together);
      const read = await Promise.all(some.map(readOne));
      await turns.next();
      for (const [index, id] of some.entries()) {
        const [record, before] = [read[index], seen.get(id)];
        const hash = record === undefined ? (before?.hash ?? '') : createHash('sha256').update(JSON.stringify(record)).digest('base64');
        now.set(id, { fields: record === undefined ? (before?.fields ?? 0) : Object.keys(record).length, hash });
        const found = record === undefined || hash === before?.hash ? undefined : readHash(record);
        if (found !== undefined) changed.push(found);
      }
    }
    seen = now;
    return changed;
  };
}
