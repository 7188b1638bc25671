import type { SharedSlots, SlotAnswer } from '../registry/shared-slots.ts';
import type { RedisConnection } from './connection.ts';
import { runTogether } from './commands.ts';

/**
 * Takes a slot for a request to a host. A set holds the taken slots by their end, and a number holds the earliest time of the next one, both by the clock of
 * Redis, since the clocks of replicas differ. A value further ahead than a slot can be is ignored: this program did not write it, or the clock was set back.
 */
const takeScript = `
local lease, concurrency, spacing, life, ahead = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. (now + ahead + life), '+inf')
if concurrency > 0 and redis.call('ZCARD', KEYS[1]) >= concurrency then return {'full', 0} end
local start = math.max(now, tonumber(redis.call('GET', KEYS[2])) or 0)
if start - now > ahead + 10 * spacing + 60000 then start = now end
if start - now > ahead then return {'late', math.ceil(start - now)} end
if spacing > 0 then redis.call('SET', KEYS[2], start + spacing, 'PX', math.ceil(start - now + spacing) + 1000) end
if concurrency > 0 then
  redis.call('ZADD', KEYS[1], start + life, lease)
  redis.call('PEXPIRE', KEYS[1], math.ceil(ahead + life))
end
return {'start', math.ceil(start - now)}`;

const kinds: ReadonlySet<unknown> = new Set<SlotAnswer['kind']>(['start', 'full', 'late']);

/** Slots for requests to registries that all replicas share, under the queue's prefix. Rejects if Redis does not answer. */
export function createRegistrySlots(redis: RedisConnection, prefix: string): SharedSlots {
  const keyOf = (host: string, what: 'turns' | 'next') => `${prefix}:registry:${host}:${what}`;
  return {
    async take(host, lease, { concurrency = 0, requestsPerSecond }, { lifeMs, maxAheadMs }) {
      const spacingMs = requestsPerSecond === undefined ? 0 : 1_000 / requestsPerSecond;
      const keys = [keyOf(host, 'turns'), keyOf(host, 'next')];
      const answer: unknown = await redis.eval(takeScript, keys.length, ...keys, lease, concurrency, spacingMs, lifeMs, maxAheadMs);
      const [kind, waitMs] = Array.isArray(answer) ? (answer as unknown[]) : [];
      if (!isKind(kind)) throw new Error(`Redis answered ${String(kind)} to a request for a slot`);
      return { kind, waitMs: Number(waitMs) };
    },
    async release(host, lease) {
      await redis.zrem(keyOf(host, 'turns'), lease);
    },
  };
}

function isKind(text: unknown): text is SlotAnswer['kind'] {
  return kinds.has(text);
}

/** The counts are kept for two minutes, because replicas whose clocks are behind may still count for the previous one. */
const lifeMs = 120_000;

/** Counts of requests that all replicas share, by receiver and minute, under the queue's prefix. Rejects when Redis does not answer. */
export function createRequestCounts(
  redis: RedisConnection,
  prefix: string,
): (receiver: string, window: number, count: number) => Promise<number> {
  return async (receiver, window, count) => {
    const key = `${prefix}:requests:${receiver}:${window}`;
    const commands = [
      ['INCRBY', key, count],
      ['PEXPIRE', key, lifeMs],
      ['GET', key],
    ] as const;
    return Number(await runTogether(redis, [key], commands));
  };
}
