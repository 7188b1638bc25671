const collator = new Intl.Collator('en', { numeric: true });

/** Numbers in a text count as numbers: `build-9` before `build-10`. A guess at what is newer where nothing better is known. */
export function naturalOrder(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}
