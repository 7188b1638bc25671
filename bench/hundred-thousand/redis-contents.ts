/** What Redis holds, and what it has done. */
import type { Redis } from 'ioredis';

/** Keys of one sort. */
export interface KeysOfSort {
  readonly keys: number;
  readonly bytes: number;
  /** How many of them expire by themselves. */
  readonly expiring: number;
}

/** All keys below a prefix, by sort: ids are left out of their names. */
export async function readContents(redis: Redis, prefix: string): Promise<Readonly<Record<string, KeysOfSort>>> {
  const sorts = new Map<string, KeysOfSort>();
  for await (const found of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    const keys = found as string[];
    const pipeline = redis.pipeline();
    for (const key of keys) pipeline.memory('USAGE', key, 'SAMPLES', 0).ttl(key);
    const answers = ((await pipeline.exec()) ?? []).map(([error, value]) => {
      if (error !== null) throw error;
      return Number(value);
    });
    for (const [index, key] of keys.entries()) {
      const sort = sortOf(key.slice(prefix.length));
      const known = sorts.get(sort) ?? { keys: 0, bytes: 0, expiring: 0 };
      const isExpiring = (answers[2 * index + 1] ?? -1) > 0;
      sorts.set(sort, {
        keys: known.keys + 1,
        bytes: known.bytes + (answers[2 * index] ?? 0),
        expiring: known.expiring + (isExpiring ? 1 : 0),
      });
    }
  }
  return Object.fromEntries([...sorts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Keys and bytes of all sorts together. */
export function total(contents: Readonly<Record<string, KeysOfSort>>): Pick<KeysOfSort, 'keys' | 'bytes'> {
  const all = Object.values(contents);
  return { keys: all.reduce((sum, { keys }) => sum + keys, 0), bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** What Redis has done so far: seconds of a core, and bytes that it has written to its append-only file. */
export async function readRedisWork(redis: Redis): Promise<{ readonly cpuSeconds: number; readonly aofBytes: number }> {
  const text = `${await redis.info('cpu')}${await redis.info('persistence')}`;
  const read = (name: string) => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1]);
  return { cpuSeconds: read('used_cpu_user') + read('used_cpu_sys'), aofBytes: read('aof_current_size') };
}

/** `:push:0123abcd…` → `:push:ID`. */
function sortOf(name: string): string {
  return name.replace(/[0-9a-f-]{20,}.*$|\d{8,}$/, 'ID').replace(/(:repository:).*$/, '$1NAME');
}
