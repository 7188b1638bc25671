const collator = new Intl.Collator('en', { numeric: true });

/** Compares numbers in a text as numbers: `build-9` before `build-10`. A guess at which is newer if nothing better is known. */
export function naturalOrder(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}
