/** Where a value stands in a document: names of fields and places in lists. */
export type Keys = readonly (string | number)[];

/** `spec.targets[0].name`, as the API server writes it. */
export function formatKeys(keys: Keys): string {
  const text = keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return text.replace(/^\./, '');
}

/** The value at a place; undefined where there is none. */
export function valueAt(root: unknown, keys: Keys): unknown {
  let current = root;
  for (const key of keys) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}
