/** What only tells of changed images waits while images are being changed. */
export interface ImagesFirst {
  /** Counts the work as a change of images while it lasts. */
  change<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when no image is being changed, or after `atMostMs`. */
  turn(): Promise<void>;
}

/** `atMostMs`: a stream of changes, or an API server that is slow to make them, must not keep anything from being told. */
export function createStatusDeferral({ atMostMs }: { readonly atMostMs: number }): ImagesFirst {
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
