const few = 10;

/** The first ten of a list as text, and how many more there are: a policy may have hundreds of targets. */
export function listFew<T>(items: readonly T[], describe: (item: T) => string): string {
  const more = items.length > few ? [`and ${items.length - few} more`] : [];
  return [...items.slice(0, few).map(describe), ...more].join('; ');
}
