/** A part of a process that is started and stopped. */
export interface Living {
  readonly name: string;
  /** Starts the part. The next part starts when this has resolved. */
  start?(): void | Promise<void>;
  /** Stops the part; also called if it was not started. */
  stop(deadlineMs: number): void | Promise<unknown>;
}

/** Combines parts that start one after the other, and stop in the reverse order. Once they stop, no further part starts. */
export function liveInOrder(parts: readonly Living[]): { start(): Promise<void>; stop(deadlineMs: number): Promise<void> } {
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
      for (const part of parts.toReversed()) await part.stop(deadlineMs);
    },
  };
}
