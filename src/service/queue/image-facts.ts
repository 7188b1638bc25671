/** A store in Redis for facts about images: a bounded number of small texts, which can all be read again from registries. */
import type { RedisConnection } from './connection.ts';

/** Texts by key; never rejects: what cannot be read or written is read from a registry. */
export interface ImageFactsStore {
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
}

export interface ImageFactsOptions {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly now: () => number;
  /** Whether Redis has enough memory for what can be read again. */
  readonly canWrite: () => boolean;
  /** The number of texts; the oldest is removed. */
  readonly limit?: number;
}

const lifeMs = 7 * 24 * 3_600_000;
/** The facts about an image of four platforms and a hundred layers each; larger ones are cached in memory only. */
const maxText = 32 * 1024;
/** Part of the keys: another schema begins with an empty store, and what older replicas wrote expires. */
const schemaVersion = 1;

/** ARGV: field, text, time, the time before which entries have expired, limit, life. */
const writeScript = `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
local function drop(fields)
  if #fields == 0 then return end
  redis.call('HDEL', KEYS[1], unpack(fields))
  redis.call('ZREM', KEYS[2], unpack(fields))
end
drop(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[4], 'LIMIT', 0, 100))
local excess = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[5])
if excess > 0 then drop(redis.call('ZRANGE', KEYS[2], 0, math.min(excess, 100) - 1)) end
redis.call('PEXPIRE', KEYS[1], ARGV[6])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
return 1`;

/** The store, under the queue's prefix (one Cluster slot): a hash of the texts, and an index by the time at which they were written. */
export function createImageFactsStore({ redis, prefix, now, canWrite, limit = 2_000 }: ImageFactsOptions): ImageFactsStore {
  const texts = `${prefix}:images:v${schemaVersion}`;
  const times = `${texts}:times`;
  return {
    async read(key) {
      try {
        const [length, at] = await Promise.all([redis.hstrlen(texts, key), redis.zscore(times, key)]);
        const isUsable = length > 0 && length <= maxText && at !== null && Math.abs(now() - Number(at)) < lifeMs;
        return isUsable ? ((await redis.hget(texts, key)) ?? undefined) : undefined;
      } catch {
        return undefined;
      }
    },
    async write(key, text) {
      if (!canWrite() || Buffer.byteLength(text) > maxText) return;
      const at = now();
      try {
        await redis.eval(writeScript, 2, texts, times, key, text, at, at - lifeMs, limit, lifeMs);
      } catch {
        // What Redis does not take is in memory.
      }
    },
  };
}
