/** Runs work sequentially. */

/** Runs one piece of work at a time for each key, in the order of arrival. */
export interface KeyedMutex {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** A mutex inside this process. Between replicas, the checks of the API server serialize writes. */
export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<unknown>>();
  return {
    async run(key, work) {
      const previous = tails.get(key) ?? Promise.resolve();
      const current = previous.then(work, work);
      tails.set(key, current);
      try {
        return await current;
      } finally {
        if (tails.get(key) === current) tails.delete(key);
      }
    },
  };
}

/** Batches the items that arrive during a write into the next one. A single item is written immediately. A failed write fails for all of its items. */
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

/** A mutex that can be held across several steps, not only while one function runs. */
export interface HeldMutex {
  /** Resolves when the mutex is held, immediately if it is held already. */
  take(): Promise<void>;
  /** Releases the mutex. Does nothing if it is not held. */
  release(): void;
}

/** The mutex of a key, which is not held yet. A holder must release it. */
export function holdMutex(mutex: KeyedMutex, key: string): HeldMutex {
  let release: (() => void) | undefined;
  return {
    async take() {
      if (release !== undefined) return;
      const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
      const held = new Promise<void>((done) => (release = done));
      const work = () => {
        hold();
        return held;
      };
      await Promise.race([isHeld, mutex.run(key, work)]);
    },
    release() {
      release?.();
      release = undefined;
    },
  };
}
