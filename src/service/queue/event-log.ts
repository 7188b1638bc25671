/**
 * The audit record of every push: a hash per event that is kept for 7 days, an index by time, and one by repository. Events that no policy watches have a small
 * index of their own, so that they do not evict useful ones. Pushes in progress are in the queue.
 */
import { formatRepository } from '../../core/model/image-reference.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { GivenUpNotice } from '../../core/model/notice.ts';
import type { PushEvent } from '../../core/model/push-event.ts';
import type { RedisConnection } from './connection.ts';
import { eventKeys, givenUpCount, givenUpField, maxGivenUp, otherDigestField, readField, readHash, recordSeconds } from './event-record.ts';
import { runTogether, type Command } from './commands.ts';
import { maxOutbox, outboxFunctions, outboxKeys } from './outbox-functions.ts';
import { batchWrites } from '../../core/async/serialize.ts';
import { isFinal, matchFunctions, recordCommand, recordFunction, type stageRanks } from './record-result.ts';

/** The result of a push for one policy. */
export interface PolicyResult extends Pick<Outcome, 'reason' | 'message' | 'tag' | 'digest' | 'changes'> {
  readonly kind: Outcome['kind'] | 'retrying' | 'waiting' | 'failed';
  readonly at: string;
  /** Milliseconds since the push was received. Where the writer does not know when that was, the record's reader does. */
  readonly afterMs?: number;
  /** Milliseconds from the push to the verification of the image at the registry, before workloads were changed, as the first try measured it. */
  readonly verifiedMs?: number;
  /** The repository (`registry/path`) that the credentials of the policy have read; absent if they have read none. */
  readonly hasRead?: string;
  /** Whether no rollout of the changes is watched, so that no result of one follows; absent if one is. */
  readonly isUnwatched?: true;
  /** Whether it was found in a status afterwards, when it may have been recorded before: it replaces only results of tries. It is not stored. */
  readonly isFound?: true;
  /** The push that has brought the same image before, whose results say what becomes of it. */
  readonly broughtBy?: string;
  /** The digest that the registry has for the pushed tag, if another one was announced. Later results keep it. */
  readonly otherDigest?: string;
  /** The later stage that the result is about: a wait that a guard asks for, which no try of the push ends, another image that has replaced it, its rollout, or the end of its waves before the last one. */
  readonly stage?: keyof typeof stageRanks;
}

export interface EventLog {
  /** Records a push that no policy watches. */
  unwatched(event: PushEvent, at: Date): Promise<void>;
  /** Records the policies that match a push, by name. */
  matched(event: PushEvent, policies: readonly string[]): Promise<void>;
  /** Records the result for one policy, and the match if `matched` has not. A final result is only replaced by a higher one (`record-result.ts`). */
  recordResult(eventId: string, policy: string, result: PolicyResult, push?: PushEvent): Promise<void>;
  /** The policies of a push that have no final result yet, by name. */
  unfinished(eventId: string): Promise<readonly string[]>;
  /** Records that a notice about one policy was given up. The same notice again replaces the record, and is not counted again. */
  recordGivenUp(eventId: string, policy: string, notice: GivenUpNotice): Promise<void>;
}

/** A push, and the names of the policies that match it. */
interface Match {
  readonly event: PushEvent;
  readonly policies: readonly string[];
}

/** The result of a push for one policy. It contains the push if the match is still to be recorded. */
interface Recorded {
  readonly eventId: string;
  readonly policy: string;
  readonly result: PolicyResult;
  readonly push: PushEvent | undefined;
}

/**
 * Records a notice that was given up. KEYS: the hash of the event. ARGV: the notice's counter and field, its text, how many are kept, and the life in ms of a
 * hash that was no record before.
 */
const givenUpScript = `
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 and redis.call('HINCRBY', KEYS[1], ARGV[1], 1) > tonumber(ARGV[4]) then return end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[5]) end`;

const maxEvents = 100_000;
/** How many results are written in one request. A push may concern thousands of policies, and a request must not keep Redis from other clients. */
const maxTogether = 500;
const maxUnwatched = 1_000;
/** How many unwatched pushes above the limit are kept before they are removed together, which costs less than one by one. */
const unwatchedSlack = 100;

/**
 * Creates the log in Redis, under the queue's prefix (one Cluster slot). A full Redis accepts no records: `onFull` receives the error of each write that is
 * skipped. If the job failed instead, it would stay in the queue and fill Redis further. `isKept`: whether pushes with a final result are also put into the outbox of
 * the durable record.
 */
export function createEventLog(
  { redis, prefix, isKept = false }: { readonly redis: RedisConnection; readonly prefix: string; readonly isKept?: boolean },
  onFull: (error: Error) => void,
): EventLog {
  const functions = `${matchFunctions}${recordFunction}${isKept ? outboxFunctions : ''}`;
  const write = (keys: readonly string[], commands: readonly Command[]) => unlessFull(() => runTogether(redis, keys, commands, functions));
  const unlessFull = async (run: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('OOM '))) throw error;
      onFull(error);
      return undefined;
    }
  };
  const { hash: hashKey, byTime, byRepository, unwatched: unwatchedIndex, announcements } = eventKeys(prefix);
  const outbox = outboxKeys(prefix);
  /** The commands that write pushes with the policies that match them, and their places in the indexes. */
  const matchesOf = (
    matches: readonly [Match, ...Match[]],
  ): { readonly keys: readonly string[]; readonly commands: readonly Command[] } => {
    const events = matches.map(({ event }) => event);
    const indexes = new Map([[byTime, events], ...Map.groupBy(events, ({ repository }) => byRepository(formatRepository(repository)))]);
    // Replays are left out, because they do not prove that webhooks arrive.
    const announced = events.filter(({ replayOf }) => replayOf === undefined);
    const oldest = Date.parse(matches[0].event.receivedAt) - recordSeconds * 1_000;
    const commands = [
      ...matches.flatMap(({ event, policies }): Command[] => [
        ['MATCH', hashKey(event.id), JSON.stringify(policies), ...flatten(event)],
        ['EXPIRE', hashKey(event.id), recordSeconds],
      ]),
      ...[...indexes].flatMap(([index, entries]): Command[] => [
        ['ZADD', index, ...entries.flatMap(({ receivedAt, id }) => [Date.parse(receivedAt), id])],
        ['ZREMRANGEBYSCORE', index, '-inf', oldest],
        ['ZREMRANGEBYRANK', index, 0, -maxEvents - 1],
        ['EXPIRE', index, recordSeconds],
      ]),
      ...announced.map(({ receivedAt, repository }): Command => ['ZADD', announcements, 'GT', Date.parse(receivedAt), repository.registry]),
      ['ZREMRANGEBYSCORE', announcements, '-inf', oldest],
      ['EXPIRE', announcements, recordSeconds],
      // A push that nobody watched may have been matched again since.
      ['ZREM', unwatchedIndex, ...events.map(({ id }) => id)],
    ];
    return { keys: [...events.map(({ id }) => hashKey(id)), ...indexes.keys(), announcements, unwatchedIndex], commands };
  };
  const writeSome = async (results: readonly Recorded[]): Promise<void> => {
    const [first, ...others] = results.flatMap(({ push, policy }) => (push === undefined ? [] : [{ event: push, policies: [policy] }]));
    const matches = first === undefined ? { keys: [], commands: [] } : matchesOf([first, ...others]);
    const hashes = new Set(results.map(({ eventId }) => hashKey(eventId)));
    const commands = results.flatMap(({ eventId, policy, result: { hasRead, otherDigest, ...result } }): Command[] => [
      recordCommand(hashKey(eventId), policy, result),
      ...(hasRead === undefined ? [] : [['HSET', hashKey(eventId), readField(policy), hasRead]]),
      ...(otherDigest === undefined ? [] : [['HSET', hashKey(eventId), otherDigestField(policy), otherDigest]]),
    ]);
    // What waits for a person may do so for ever.
    const isToKeep = ({ result }: Recorded) => isFinal(result) || (result.kind !== 'waiting' && result.kind !== 'retrying');
    const kept = isKept ? new Set(results.filter(isToKeep).map(({ eventId }) => eventId)) : [];
    const outgoing = [...kept].map((id): Command => ['OUTPUSH', outbox.stream, maxOutbox, hashKey(id), id]);
    const lives = [...hashes].map((hash): Command => ['EXPIRE', hash, recordSeconds]);
    const keys = [...hashes, ...matches.keys, ...(outgoing.length > 0 ? [outbox.stream, outbox.lost] : [])];
    await write([...new Set(keys)], [...matches.commands, ...commands, ...outgoing, ...lives]);
  };
  /** Results of a burst of pushes are written together, which costs a fraction of single writes. */
  const writeResults = batchWrites<Recorded>(async (results) => {
    for (let start = 0; start < results.length; start += maxTogether) await writeSome(results.slice(start, start + maxTogether));
  });

  /** Removes index entries together with their records. If only the index were trimmed, a flood of pushes would fill Redis for a week. */
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
      const fields = [...flatten(event), 'reason', 'NoPolicy', 'finishedAt', at.toISOString()];
      return [
        ['UNMATCH', hash, unwatchedIndex, Date.parse(event.receivedAt), event.id, ...fields],
        ['EXPIRE', hash, recordSeconds],
      ];
    });
    const keys = [...pushes.map(({ event }) => hashKey(event.id)), unwatchedIndex];
    const count = await write(keys, [...records, ['ZCARD', unwatchedIndex]]);
    if (Number(count ?? 0) >= maxUnwatched + unwatchedSlack) await forgetUnwatched();
  });

  return {
    unwatched: (event, at) => writeUnwatched({ event, at }),
    async matched(event, policies) {
      const { keys, commands } = matchesOf([{ event, policies }]);
      await write(keys, commands);
    },
    recordResult: (eventId, policy, result, push) => writeResults({ eventId, policy, result, push }),
    async unfinished(eventId) {
      const record = readHash(await redis.hgetall(hashKey(eventId)));
      if (record === undefined || !('results' in record)) return [];
      return [...record.results].flatMap(([policy, result]) => (result !== undefined && isFinal(result) ? [] : [policy]));
    },
    async recordGivenUp(eventId, policy, notice) {
      const fields = [givenUpCount(policy), givenUpField(policy, notice)];
      const values = [JSON.stringify(notice), maxGivenUp, 24 * 3_600];
      await unlessFull(() => redis.eval(givenUpScript, 1, hashKey(eventId), ...fields, ...values));
    },
  };
}

/** The fields of a push as alternating names and values. */
function flatten(event: PushEvent): string[] {
  const { repository, ...rest } = event;
  const fields = { ...rest, registry: repository.registry, repository: repository.path };
  return Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [name, value] : []));
}

/** The memory of an audit record in Redis with its index entries, in bytes. */
export const bytesPerRecord = 1_300;

const forgetBatch = 500;

/** Removes up to `count` of the oldest audit records with their index entries, to make room for pushes; returns how many. It works in a full Redis. */
export async function forgetOldestRecords(redis: RedisConnection, prefix: string, count: number): Promise<number> {
  const { hash: hashKey, byTime, byRepository } = eventKeys(prefix);
  let forgotten = 0;
  while (forgotten < count) {
    const wanted = Math.min(forgetBatch, count - forgotten);
    const ids = await redis.zrange(byTime, '0', String(wanted - 1));
    if (ids.length === 0) break;
    const repositories = await Promise.all(ids.map((id) => redis.hmget(hashKey(id), 'registry', 'repository')));
    const indexes = Map.groupBy(ids.keys(), (position) => {
      const [registry, path] = repositories[position] ?? [];
      return registry && path ? byRepository(formatRepository({ registry, path })) : byTime;
    });
    const hashes = ids.map(hashKey);
    await runTogether(
      redis,
      [byTime, ...indexes.keys(), ...hashes],
      [
        ...[...indexes].map(([index, positions]) => ['ZREM', index, ...positions.map((position) => ids[position] ?? '')]),
        ['ZREM', byTime, ...ids],
        ['UNLINK', ...hashes],
      ],
    );
    forgotten += ids.length;
  }
  return forgotten;
}
