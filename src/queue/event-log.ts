/**
 * The audit record of every push: a hash per event with a life of 7 days, an index by time, one by repository. Events that nobody
 * watches have a small index of their own, so that they do not evict useful ones. What is still on its way is in the queue.
 */
import { formatRepository } from '../model/image-reference.ts';
import type { Outcome } from '../plan/outcome.ts';
import type { PushEvent } from '../model/push-event.ts';
import type { RedisConnection } from './connection.ts';
import { eventKeys } from './event-keys.ts';
import { runTogether, type Command } from './run-together.ts';
import { batchWrites } from '../async/batch-writes.ts';

/** How one policy met a push. */
export interface PolicyFate extends Pick<Outcome, 'reason' | 'message' | 'tag' | 'digest' | 'changes'> {
  readonly kind: Outcome['kind'] | 'retrying' | 'waiting' | 'failed';
  readonly at: string;
  /** Milliseconds since the push was received. */
  readonly afterMs: number;
}

export interface EventLog {
  /** A push that no policy watches. */
  unwatched(event: PushEvent, at: Date): Promise<void>;
  /** A push whose policies are known, by name. */
  matched(event: PushEvent, policies: readonly string[]): Promise<void>;
  /** What became of it at one policy; a later fate replaces an earlier one. With the push, this is the record of the match as well. */
  settled(eventId: string, policy: string, fate: PolicyFate, push?: PushEvent): Promise<void>;
}

const lifeSeconds = 7 * 24 * 3_600;
const maxEvents = 100_000;
const maxUnwatched = 1_000;
/** They are forgotten so many at a time, which costs less than one by one. */
const unwatchedSlack = 100;

/**
 * The log in Redis, under the queue's prefix (one Cluster slot). A Redis that is full takes no records: `onFull` hears of each write that is left out. To fail for it
 * would keep the job where it is, which is what fills Redis.
 */
export function createEventLog(redis: RedisConnection, prefix: string, onFull: (error: Error) => void): EventLog {
  const write = async (keys: readonly string[], commands: readonly Command[]): Promise<unknown> => {
    try {
      return await runTogether(redis, keys, commands);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('OOM '))) throw error;
      onFull(error);
      return undefined;
    }
  };
  const { hash: hashKey, byTime, byRepository, unwatched: unwatchedIndex, announcements } = eventKeys(prefix);
  const matchOf = (event: PushEvent, policies: readonly string[]): Command[] => {
    const index = byRepository(formatRepository(event.repository));
    const score = Date.parse(event.receivedAt);
    return [
      ['HSET', hashKey(event.id), ...flatten(event), 'outcome', 'matched', 'policies', JSON.stringify(policies)],
      ['EXPIRE', hashKey(event.id), lifeSeconds],
      ...[byTime, index].flatMap((index): Command[] => [
        ['ZADD', index, score, event.id],
        ['ZREMRANGEBYSCORE', index, '-inf', score - lifeSeconds * 1_000],
        ['ZREMRANGEBYRANK', index, 0, -maxEvents - 1],
        ['EXPIRE', index, lifeSeconds],
      ]),
      // A replay does not show that webhooks arrive.
      ...(event.replayOf === undefined ? [['ZADD', announcements, 'GT', score, event.repository.registry]] : []),
      ['ZREMRANGEBYSCORE', announcements, '-inf', score - lifeSeconds * 1_000],
      ['EXPIRE', announcements, lifeSeconds],
    ];
  };
  const matchKeys = (event: PushEvent) => [byTime, byRepository(formatRepository(event.repository)), announcements];

  /** With their records: an index that forgets alone would let a flood of pushes fill Redis for a week. */
  const forgetUnwatched = async () => {
    const oldest = (await redis.zrange(unwatchedIndex, '0', String(-maxUnwatched - 1))).slice(0, maxUnwatched);
    if (oldest.length === 0) return;
    const hashes = oldest.map(hashKey);
    await runTogether(
      redis,
      [unwatchedIndex, ...hashes],
      [
        ['ZREM', unwatchedIndex, ...oldest],
        ['UNLINK', ...hashes],
      ],
    );
  };
  const writeUnwatched = batchWrites<{ readonly event: PushEvent; readonly at: Date }>(async (pushes) => {
    const records = pushes.flatMap(({ event, at }): Command[] => {
      const hash = hashKey(event.id);
      return [
        ['HSET', hash, ...flatten(event), 'outcome', 'unwatched', 'reason', 'NoPolicy', 'finishedAt', at.toISOString()],
        ['EXPIRE', hash, lifeSeconds],
      ];
    });
    const places = pushes.flatMap(({ event }) => [Date.parse(event.receivedAt), event.id]);
    const keys = [...pushes.map(({ event }) => hashKey(event.id)), unwatchedIndex];
    const count = await write(keys, [...records, ['ZADD', unwatchedIndex, ...places], ['ZCARD', unwatchedIndex]]);
    if (Number(count ?? 0) >= maxUnwatched + unwatchedSlack) await forgetUnwatched();
  });

  return {
    unwatched: (event, at) => writeUnwatched({ event, at }),
    async matched(event, policies) {
      await write([hashKey(event.id), ...matchKeys(event)], matchOf(event, policies));
    },
    async settled(eventId, policy, fate, push) {
      const hash = hashKey(eventId);
      const keys = [hash, ...(push === undefined ? [] : matchKeys(push))];
      const match = push === undefined ? [] : matchOf(push, [policy]);
      await write(keys, [...match, ['HSET', hash, `policy:${policy}`, JSON.stringify(fate)], ['EXPIRE', hash, lifeSeconds]]);
    },
  };
}

/** Names and values in turn. */
function flatten(event: PushEvent): string[] {
  const { repository, ...rest } = event;
  const fields = { ...rest, registry: repository.registry, repository: repository.path };
  return Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [name, value] : []));
}
