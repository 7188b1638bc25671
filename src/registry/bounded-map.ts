/** A Map that forgets its oldest entry when it would grow over the limit: for caches whose keys others choose. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#limit) {
      for (const oldest of this.keys()) {
        this.delete(oldest);
        break;
      }
    }
    return this;
  }
}
