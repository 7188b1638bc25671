/** Finds the newest audit records that are new, or have changed. */
import { createHash } from 'node:crypto';
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

/** Creates a reader of the records that are new, or have changed, since its last call; at first of all the newest. */
export function createChangedEvents(redis: RedisConnection, prefix: string): () => Promise<readonly EventRecord[]> {
  const keys = eventKeys(prefix);
  const indexes = [[keys.byTime, newest] as const, [keys.unwatched, newestOthers] as const, [keys.ignored, newestOthers] as const];
  let seen = new Map<string, Seen>();
  return async () => {
    const ids = [...new Set((await Promise.all(indexes.map(([index, count]) => redis.zrevrange(index, 0, count - 1)))).flat())];
    const counts = new Map(await Promise.all(ids.map(async (id) => [id, await redis.hlen(keys.hash(id))] as const)));
    const now = new Map<string, Seen>();
    const changed: EventRecord[] = [];
    const compare = async (id: string) => {
      const [before, fields = 0] = [seen.get(id), counts.get(id)];
      if (before !== undefined && before.fields === fields && fields > maxFields) return now.set(id, before);
      const record = await redis.hgetall(keys.hash(id));
      const hash = createHash('sha256').update(JSON.stringify(record)).digest('base64');
      now.set(id, { fields, hash });
      const read = hash === before?.hash ? undefined : readHash(record);
      if (read !== undefined) changed.push(read);
      return undefined;
    };
    await Promise.all(ids.map(compare));
    seen = now;
    return changed;
  };
}
