/** Defers status writes while images are being changed. */
export interface StatusDeferral {
  /** Runs `work` as a change of images, which defers status writes. */
  change<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when no image is being changed, or after `atMostMs`. */
  turn(): Promise<void>;
}

/** `atMostMs`: a stream of changes, or a slow API server, must not defer statuses for ever. */
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
    turn() {
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
