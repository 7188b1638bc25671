/** Writes what comes while a write is under way together, as the next one; what comes alone is written at once. A write that fails, fails for all of its items. */
export function batchWrites<T>(write: (items: readonly T[]) => Promise<void>): (item: T) => Promise<void> {
  let before: Promise<unknown> = Promise.resolve();
  let next: { readonly items: T[]; readonly written: Promise<void> } | undefined;
  const open = () => {
    const items: T[] = [];
    const written = before.then(() => {
      next = undefined;
      return write(items);
    });
    before = written.catch(() => undefined);
    return { items, written };
  };
  return (item) => {
    next ??= open();
    next.items.push(item);
    return next.written;
  };
}
