/** The outbox of the durable record: what was recorded in Redis, and is still to be written where it is kept. One stream for all replicas. */
import { parseJson } from '../../core/model/untyped.ts';
import { activitySchema, type Activity } from '../../core/model/activity.ts';
import { runTogether } from './commands.ts';
import type { RedisConnection } from './connection.ts';
import { outboxKeys, tailSchema, type Tail } from './outbox-functions.ts';

/** An entry that waits. `id`: its position in the stream, `MS-N`. An entry is an activity, the id of a push that has a result, or how many entries were lost before it. */
export type OutboxEntry = { readonly id: string } & (
  | { readonly activity: Activity }
  | { readonly push: string }
  | { readonly lost: number }
);

/** How far the record is behind. */
export interface OutboxState {
  readonly waiting: number;
  /** When the oldest entry was recorded, in ms since 1970 by the clock of Redis. */
  readonly oldestAt?: number;
  /** Why the last try to write failed. */
  readonly problem?: string;
}

export interface Outbox {
  /** Takes the lease, which keeps other replicas from trying at the same time, for so many ms at most; returns whether it was free. */
  take(owner: string, ms: number): Promise<boolean>;
  release(owner: string): Promise<void>;
  /** The tail of the record as it was last committed; undefined if Redis does not know it. */
  tail(): Promise<Tail | undefined>;
  /** Reads the oldest entries. The number of those that were lost is an entry as well. */
  read(count: number): Promise<readonly OutboxEntry[]>;
  /** Removes entries that the record has, and remembers its tail unless a later one is known. */
  commit(tail: Tail, ids: readonly string[]): Promise<void>;
  noteProblem(problem: string | undefined): Promise<void>;
}

const lifeMs = 90 * 24 * 3_600_000;
const maxProblem = 300;

const releaseFunction = `function functions.RELEASE(lease, owner) if redis.call('GET', lease) == owner then redis.call('DEL', lease) end end`;
const countLostFunction = `
function functions.COUNTLOST(stream, lost)
  local count = redis.call('GET', lost)
  if count then
    redis.call('DEL', lost)
    redis.call('XADD', stream, '*', 'lost', count)
  end
end`;
const advanceFunction = `
function functions.ADVANCE(tail, segment, sequence, hash)
  if tonumber(redis.call('HGET', tail, 'segment') or -1) < tonumber(segment) then
    redis.call('HSET', tail, 'segment', segment, 'sequence', sequence, 'hash', hash)
  end
end`;

export function createOutbox(redis: RedisConnection, prefix: string): Outbox {
  const keys = outboxKeys(prefix);
  return {
    take: async (owner, ms) => (await redis.set(keys.lease, owner, 'PX', ms, 'NX')) === 'OK',
    async release(owner) {
      await runTogether(redis, [keys.lease], [['RELEASE', keys.lease, owner]], releaseFunction);
    },
    tail: async () => tailSchema.safeParse(await redis.hgetall(keys.tail)).data,
    async read(count) {
      await runTogether(redis, [keys.stream, keys.lost], [['COUNTLOST', keys.stream, keys.lost]], countLostFunction);
      const found = await redis.xrange(keys.stream, '-', '+', 'COUNT', count);
      return found.map(([id, fields]) => readEntry(id, fields));
    },
    async commit({ segment, sequence, hash }, ids) {
      const remove = ids.length === 0 ? [] : [['XDEL', keys.stream, ...ids]];
      const advance = ['ADVANCE', keys.tail, segment, sequence, hash];
      await runTogether(redis, [keys.stream, keys.tail], [...remove, advance], advanceFunction);
    },
    async noteProblem(problem) {
      if (problem === undefined) await redis.del(keys.problem);
      else await redis.set(keys.problem, problem.slice(0, maxProblem), 'PX', lifeMs);
    },
  };
}

/** Reads how far the record is behind. */
export async function readOutboxState(redis: RedisConnection, prefix: string): Promise<OutboxState> {
  const keys = outboxKeys(prefix);
  const [waiting, [oldest], problem] = await Promise.all([
    redis.xlen(keys.stream),
    redis.xrange(keys.stream, '-', '+', 'COUNT', 1),
    redis.get(keys.problem),
  ]);
  return { waiting, ...(oldest && { oldestAt: Number(oldest[0].split('-')[0]) }), ...(problem !== null && { problem }) };
}

/** Reads an entry. What cannot be read is written as lost, so that it is neither dropped silently nor blocks those behind it. */
function readEntry(id: string, [field, value = '']: readonly string[]): OutboxEntry {
  if (field === 'push') return { id, push: value };
  const count = Number(value);
  if (field === 'lost' && Number.isSafeInteger(count) && count > 0) return { id, lost: count };
  const activity = field === 'activity' ? activitySchema.safeParse(parseJson(value)).data : undefined;
  return activity === undefined ? { id, lost: 1 } : { id, activity };
}
