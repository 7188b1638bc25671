/** Caches in memory whose size is bounded. */

/**
 * A Map that removes the least recently used entries when it exceeds its limit: a number of entries, or what they weigh together, such as bytes. It is for
 * caches whose keys come from outside.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #limit: number;
  readonly #weigh: (value: V) => number;
  #weight = 0;
  /** Goes on from the last entry that it removed: a new iterator would pass all places that removed entries have left at the start of a Map. */
  #oldest: MapIterator<K> = this.keys();

  constructor(limit: number, weigh: (value: V) => number = () => 1) {
    super();
    this.#limit = limit;
    this.#weigh = weigh;
  }

  override get(key: K): V | undefined {
    const value = super.get(key);
    if (value === undefined) return undefined;
    super.delete(key);
    super.set(key, value);
    return value;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    this.#weight += this.#weigh(value);
    while (this.#weight > this.#limit && this.size > 0) this.#removeOldest();
    return this;
  }

  override delete(key: K): boolean {
    if (!this.has(key)) return false;
    this.#weight -= this.#weigh(super.get(key) as V);
    return super.delete(key);
  }

  override clear(): void {
    super.clear();
    this.#weight = 0;
  }

  #removeOldest(): void {
    let { done, value: key } = this.#oldest.next();
    if (done === true) {
      this.#oldest = this.keys();
      ({ value: key } = this.#oldest.next());
    }
    if (key !== undefined) this.delete(key);
  }
}

/** A cache of values that are valid for some time. Simultaneous callers share one load of a value, and failures are not cached. */
export interface TtlCache<V> {
  get(key: string, load: () => Promise<V>): Promise<V>;
}

export interface TtlCacheOptions {
  readonly ttlMs: number;
  /** The maximum number of cached values. Beyond it, the least recently used is removed. */
  readonly limit: number;
  /** A monotonic clock in ms, so that a clock that is set back makes no value last longer. */
  readonly elapsed: () => number;
}

/** Creates an empty cache. */
export function createTtlCache<V>({ ttlMs, limit, elapsed }: TtlCacheOptions): TtlCache<V> {
  const entries = new BoundedMap<string, { readonly until: number; readonly value: Promise<V> }>(limit);
  return {
    async get(key, load) {
      const known = entries.get(key);
      if (known !== undefined && known.until > elapsed()) return known.value;
      const entry = { until: elapsed() + ttlMs, value: load() };
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
