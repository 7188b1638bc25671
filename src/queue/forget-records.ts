/** Removes audit records when Redis is nearly full: new pushes matter more than the records of old ones. */
import { formatRepository } from '../model/image-reference.ts';
import type { RedisConnection } from './connection.ts';
import { eventKeys } from './event-record.ts';
import { runTogether } from './commands.ts';

/** The memory of an audit record in Redis, with its index entries. */
export const bytesPerRecord = 1_300;

const bulkSize = 500;

/** Removes up to `count` of the oldest audit records with their index entries; returns how many. Its commands need no memory. */
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
