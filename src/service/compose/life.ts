/** A part of a process that is started and stopped. */
export interface Living {
  readonly name: string;
  /** Starts the part. The next part starts when this has resolved. */
  start?(): void | Promise<void>;
  /** Stops the part, if possible within this time; also called if it was not started. */
  stop(deadlineMs: number): void | Promise<unknown>;
}

/**
 * Combines parts that start one after the other, and stop in the reverse order. Once they stop, no further part starts. Each part is given what its successors
 * have left of the time to stop. `elapsed`: a monotonic clock, in ms.
 */
export function liveInOrder(
  parts: readonly Living[],
  elapsed = () => performance.now(),
): { start(): Promise<void>; stop(deadlineMs: number): Promise<void> } {
  let isStopping = false;
  return {
    async start() {
      for (const part of parts) {
        if (isStopping) return;
        await part.start?.();
      }
    },
    async stop(deadlineMs) {
      isStopping = true;
      const end = elapsed() + deadlineMs;
      for (const part of parts.toReversed()) await part.stop(Math.max(0, end - elapsed()));
    },
  };
}
