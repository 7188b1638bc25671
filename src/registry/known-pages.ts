/** Pages that a registry has given a name of their own, so that asking whether they changed is cheap. */

/** A page of tags, and what its registry wants to see when it is asked again. */
export interface KnownPage {
  readonly tags: readonly string[];
  readonly next: string | undefined;
  readonly condition: Readonly<Record<string, string>>;
}

/** What every page costs besides its tags. */
const pageCost = 500;

/** Remembers pages until their tags together are longer than `maxCharacters`; then forgets those that nobody asked for the longest. */
export class KnownPages {
  readonly #pages = new Map<string, { readonly page: KnownPage; readonly cost: number }>();
  readonly #maxCharacters: number;
  #cost = 0;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  get(key: string): KnownPage | undefined {
    const found = this.#pages.get(key);
    if (!found) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, found);
    return found.page;
  }

  set(key: string, page: KnownPage): void {
    this.delete(key);
    const cost = page.tags.reduce((sum, tag) => sum + tag.length, pageCost + key.length);
    this.#pages.set(key, { page, cost });
    this.#cost += cost;
    for (const oldest of this.#pages.keys()) {
      if (this.#cost <= this.#maxCharacters) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#cost -= this.#pages.get(key)?.cost ?? 0;
    this.#pages.delete(key);
  }
}
