/** Where Redis is nearly full: pushes matter more than what is told of those that are done. */
import { formatRepository } from '../model/image-reference.ts';
import type { RedisConnection } from './connection.ts';
import { eventKeys } from './event-keys.ts';
import { runTogether } from './run-together.ts';

/** What an audit record takes in Redis, with its places in the indexes. */
export const bytesPerRecord = 1_300;

const bulkSize = 500;

/** Removes the oldest audit records and their places in the indexes, so many at most; says how many. None of its commands needs room. */
export async function forgetOldestRecords(redis: RedisConnection, prefix: string, count: number): Promise<number> {
  const { hash: hashKey, byTime, byRepository } = eventKeys(prefix);
  let forgotten = 0;
  while (forgotten < count) {
    const wanted = Math.min(bulkSize, count - forgotten);
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
