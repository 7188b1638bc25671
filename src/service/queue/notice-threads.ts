/** What was sent last about each image of a policy, by target, so that a later notice changes or answers that message, or repeats nothing. */
import { parseJson } from '../../core/model/untyped.ts';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { noticeKinds } from '../../core/model/notice.ts';
import type { RedisConnection } from './connection.ts';

const time = z.iso.datetime({ offset: true }).max(40);
const stateSchema = z.object({
  /** The message, as the target names it; absent if the target names none. */
  id: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .exactOptional(),
  /** The kind and the time of the notice that the message shows, and when it was stored. */
  kind: z.enum(noticeKinds),
  at: time,
  receivedAt: time,
});

/** The last message about an image. The data are not trusted, because anybody with write access to Redis may have written them. */
export type ThreadState = z.output<typeof stateSchema>;

/** A thread that nobody else sends messages of until it is released. */
export interface TakenThread {
  /** What was sent last; undefined if nothing was sent in the last day, or if it cannot be read. */
  readonly last: ThreadState | undefined;
  /** Remembers what was sent. Has no effect if the thread was given to another worker, because this one took too long. */
  remember(state: ThreadState): Promise<void>;
  release(): Promise<void>;
}

/** The threads of all targets, shared by all replicas. Rejects if Redis does not answer. */
export interface NoticeThreads {
  /** Takes a thread for a minute at most; undefined if another worker has it. */
  take(target: string, thread: string): Promise<TakenThread | undefined>;
}

/** How long a worker keeps a thread that it does not release. All requests about one notice together must take less. */
export const takenMs = 60_000;
/** How long a message is changed and answered. Nobody sees that an older message has changed. */
const lifeMs = 86_400_000;
/** The most threads of a target. */
const maxThreads = 1_000;

/** Takes a thread. KEYS: the lock, the states, their times. ARGV: token, life of the lock, thread, life of states. */
const takeScript = `
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return {0} end
local time = redis.call('TIME')
local since = redis.call('ZSCORE', KEYS[3], ARGV[3])
if not since or time[1] * 1000 - since > tonumber(ARGV[4]) then return {1} end
return {1, redis.call('HGET', KEYS[2], ARGV[3])}`;

/** Remembers a state, and forgets the oldest. KEYS: as above. ARGV: token, thread, state, life of states, the most states. */
const rememberScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('ZADD', KEYS[3], time[1] * 1000, ARGV[2])
for _, old in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1 - ARGV[5])) do
  redis.call('HDEL', KEYS[2], old)
  redis.call('ZREM', KEYS[3], old)
end
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('PEXPIRE', KEYS[3], ARGV[4])
return 1`;

/** Releases a thread. KEYS: the lock. ARGV: token. */
const releaseScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

/** Creates the threads in Redis, under the queue's prefix (one Cluster slot). */
export function createNoticeThreads(redis: RedisConnection, prefix: string): NoticeThreads {
  return {
    async take(target, thread) {
      const keys = [
        `${prefix}:notices:taken:${target}:${thread}`,
        `${prefix}:notices:threads:${target}`,
        `${prefix}:notices:thread-times:${target}`,
      ] as const;
      const token = randomUUID();
      const answer: unknown = await redis.eval(takeScript, keys.length, ...keys, token, takenMs, thread, lifeMs);
      const [isTaken, text]: unknown[] = Array.isArray(answer) ? answer : [];
      if (isTaken !== 1) return undefined;
      return {
        last: stateSchema.safeParse(parseJson(text)).data,
        async remember(state) {
          await redis.eval(rememberScript, keys.length, ...keys, token, thread, JSON.stringify(state), lifeMs, maxThreads);
        },
        async release() {
          await redis.eval(releaseScript, 1, keys[0], token);
        },
      };
    },
  };
}
