/** A store in Redis for facts about images: a bounded number of small texts, which can all be read again from registries. */
import type { RedisConnection } from './connection.ts';

/** Texts about images by key. Never rejects: texts that cannot be read or written are read from a registry again. */
export interface ImageFactsStore {
  /** Whether a text is stored under a key. */
  has(key: string): Promise<boolean>;
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
}

export interface ImageFactsOptions {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly now: () => number;
  /** Whether Redis has enough memory for texts that can be read again. */
  readonly canWrite: () => boolean;
  /** The maximum number of texts. When it is exceeded, the oldest text is removed. */
  readonly limit?: number;
  /** The name of the store in the keys, with the version of its texts. */
  readonly name?: string;
  /** The maximum length of a text in bytes. */
  readonly maxText?: number;
}

const lifeMs = 7 * 24 * 3_600_000;
/** The maximum length of facts: an image of four platforms and a hundred layers each. Larger facts are cached in memory only. */
const maxFacts = 32 * 1024;
/** The name of the store of facts. A new version begins with an empty store, and what older replicas wrote expires. */
const factsName = 'images:v3';

/** Writes a text and removes old ones. ARGV: field, text, time, the time before which entries have expired, limit, life. */
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

/** Creates the store, under the queue's prefix (one Cluster slot): a hash of the texts, and an index of the times at which they were written. */
export function createImageFactsStore({
  redis,
  prefix,
  now,
  canWrite,
  limit = 2_000,
  name = factsName,
  maxText = maxFacts,
}: ImageFactsOptions): ImageFactsStore {
  const texts = `${prefix}:${name}`;
  const times = `${texts}:times`;
  const isStored = async (key: string) => {
    const [length, at] = await Promise.all([redis.hstrlen(texts, key), redis.zscore(times, key)]);
    return length > 0 && length <= maxText && at !== null && Math.abs(now() - Number(at)) < lifeMs;
  };
  return {
    has: (key) => isStored(key).catch(() => false),
    async read(key) {
      try {
        return (await isStored(key)) ? ((await redis.hget(texts, key)) ?? undefined) : undefined;
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
        // A text that Redis does not accept is still in the memory of this process.
      }
    },
  };
}
