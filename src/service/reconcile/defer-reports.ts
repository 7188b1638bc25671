/**
 * Defers reports (statuses, results of pushes) while images are being changed: with 200 policies of one repository, all images are changed in a third of the time.
 * Simulated replicas defer theirs too, and no crash between a change and its report breaks an invariant (test/simulation).
 */
export interface ReportDeferral {
  /** Runs `work`, during which reports are deferred. */
  change<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when no change has been running for `quietMs`, or after `atMostMs`. */
  untilIdle(): Promise<void>;
}

/**
 * `quietMs`: the pause after a change, so that the next of several pushes does not wait for the report of the previous one, whose status costs the API server
 * several times a patch. `atMostMs`: the longest deferral, so that a stream of changes or a slow API server cannot defer a report for ever.
 */
export function createReportDeferral({ quietMs, atMostMs }: { readonly quietMs: number; readonly atMostMs: number }): ReportDeferral {
  let changes = 0;
  let quiet: NodeJS.Timeout | undefined;
  const waiting = new Set<() => void>();
  const onQuiet = () => {
    quiet = undefined;
    for (const go of waiting) go();
  };
  return {
    async change(work) {
      changes++;
      clearTimeout(quiet);
      quiet = undefined;
      try {
        return await work();
      } finally {
        changes--;
        if (changes === 0) quiet = setTimeout(onQuiet, quietMs).unref();
      }
    },
    untilIdle() {
      if (changes === 0 && quiet === undefined) return Promise.resolve();
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
