/**
 * The audit record of every push: a hash per event with a life of 7 days, an index by time, one by repository. Events that nobody
 * watches have a small index of their own, so that they do not evict useful ones. What is still on its way is in the queue.
 */
import type { Redis } from 'ioredis';
import { formatRepository } from '../core/image-reference.ts';
import type { Outcome } from '../core/outcome.ts';
import type { PushEvent } from '../core/push-event.ts';
import { eventKeys } from './event-keys.ts';

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

type Transaction = ReturnType<Redis['multi']>;

const lifeSeconds = 7 * 24 * 3_600;
const maxEvents = 100_000;
const maxUnwatched = 1_000;

/** The log in Redis, under the queue's prefix (one Cluster slot). */
export function createEventLog(redis: Redis, prefix: string): EventLog {
  const { hash: hashKey, byTime, byRepository, unwatched: unwatchedIndex, announcements } = eventKeys(prefix);
  const addMatch = (transaction: Transaction, event: PushEvent, policies: readonly string[]) => {
    const repository = formatRepository(event.repository);
    const score = Date.parse(event.receivedAt);
    transaction.hset(hashKey(event.id), { ...flatten(event), outcome: 'matched', policies: JSON.stringify(policies) });
    transaction.expire(hashKey(event.id), lifeSeconds);
    for (const index of [byTime, byRepository(repository)]) {
      transaction.zadd(index, score, event.id);
      transaction.zremrangebyscore(index, '-inf', score - lifeSeconds * 1_000);
      transaction.zremrangebyrank(index, 0, -maxEvents - 1);
      transaction.expire(index, lifeSeconds);
    }
    // A replay does not show that webhooks arrive.
    if (event.replayOf === undefined) transaction.zadd(announcements, 'GT', score, event.repository.registry);
    transaction.zremrangebyscore(announcements, '-inf', score - lifeSeconds * 1_000);
    transaction.expire(announcements, lifeSeconds);
  };

  return {
    async unwatched(event, at) {
      const transaction = redis.multi();
      transaction.hset(hashKey(event.id), { ...flatten(event), outcome: 'unwatched', reason: 'NoPolicy', finishedAt: at.toISOString() });
      transaction.expire(hashKey(event.id), lifeSeconds);
      transaction.zadd(unwatchedIndex, Date.parse(event.receivedAt), event.id);
      transaction.zremrangebyrank(unwatchedIndex, 0, -maxUnwatched - 1);
      await execute(transaction);
    },
    async matched(event, policies) {
      const transaction = redis.multi();
      addMatch(transaction, event, policies);
      await execute(transaction);
    },
    async settled(eventId, policy, fate, push) {
      const transaction = redis.multi();
      if (push !== undefined) addMatch(transaction, push, [policy]);
      transaction.hset(hashKey(eventId), `policy:${policy}`, JSON.stringify(fate));
      transaction.expire(hashKey(eventId), lifeSeconds);
      await execute(transaction);
    },
  };
}

function flatten(event: PushEvent): Record<string, string> {
  const { repository, ...rest } = event;
  const fields = { ...rest, registry: repository.registry, repository: repository.path };
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** Commands of a transaction fail one by one, as values. */
async function execute(transaction: Transaction): Promise<void> {
  const results = await transaction.exec();
  for (const [error] of results ?? []) if (error !== null) throw error;
}
