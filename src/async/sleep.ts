import { setTimeout as sleepFor } from 'node:timers/promises';

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Waits, or rejects with the signal's reason. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await sleepFor(ms, undefined, { signal });
  } catch (error) {
    // The timer rejects with an AbortError of its own; the reason is what the caller gave.
    signal?.throwIfAborted();
    throw error;
  }
}
