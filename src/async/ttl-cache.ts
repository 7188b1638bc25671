import { BoundedMap } from './bounded-map.ts';

/** Answers that are good for some time, each asked for once at a time; what fails is not kept. */
export interface TtlCache<V> {
  get(key: string, load: () => Promise<V>): Promise<V>;
}

export interface TtlCacheOptions {
  readonly ttlMs: number;
  /** How many answers are kept; the one that was not asked for the longest makes room. */
  readonly limit: number;
  readonly now: () => number;
}

/** An empty cache. */
export function createTtlCache<V>({ ttlMs, limit, now }: TtlCacheOptions): TtlCache<V> {
  const entries = new BoundedMap<string, { readonly until: number; readonly value: Promise<V> }>(limit);
  return {
    async get(key, load) {
      const known = entries.get(key);
      if (known !== undefined && known.until > now()) return known.value;
      const entry = { until: now() + ttlMs, value: load() };
      entries.set(key, entry);
      try {
        return await entry.value;
      } catch (error) {
        if (entries.get(key) === entry) entries.delete(key);
        throw error;
      }
    },
  };
}
