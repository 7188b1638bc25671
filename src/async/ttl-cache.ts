/** Answers that are good for some seconds, each asked for once at a time; what fails is not kept. */
export interface TtlCache<V> {
  get(key: string, load: () => Promise<V>): Promise<V>;
}

/** At most `limit` answers; the oldest makes room. */
export function createTtlCache<V>({ lifeMs, limit, now }: { lifeMs: number; limit: number; now: () => number }): TtlCache<V> {
  const entries = new Map<string, { readonly until: number; readonly value: Promise<V> }>();
  return {
    async get(key, load) {
      const known = entries.get(key);
      if (known !== undefined && known.until > now()) return known.value;
      const entry = { until: now() + lifeMs, value: load() };
      entries.delete(key);
      entries.set(key, entry);
      for (const oldest of [...entries.keys()].slice(0, -limit)) entries.delete(oldest);
      try {
        return await entry.value;
      } catch (error) {
        if (entries.get(key) === entry) entries.delete(key);
        throw error;
      }
    },
  };
}
