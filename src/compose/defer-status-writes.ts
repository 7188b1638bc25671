/** Defers status writes while images are being changed. */
export interface StatusDeferral {
  /** Runs `work`, during which status writes are deferred. */
  change<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when no change is running, or after `atMostMs`. */
  untilIdle(): Promise<void>;
}

/** `atMostMs`: the longest deferral, so that a stream of changes or a slow API server cannot defer a status for ever. */
export function createStatusDeferral({ atMostMs }: { readonly atMostMs: number }): StatusDeferral {
  let changes = 0;
  const waiting = new Set<() => void>();
  return {
    async change(work) {
      changes++;
      try {
        return await work();
      } finally {
        changes--;
        if (changes === 0) for (const go of waiting) go();
      }
    },
    untilIdle() {
      if (changes === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const go = () => {
          clearTimeout(timer);
          waiting.delete(go);
          resolve();
        };
        const timer = setTimeout(go, atMostMs);
        waiting.add(go);
      });
    },
  };
}
