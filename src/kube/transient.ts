import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, requestBackoff } from '../async/backoff.ts';
import { KubeError } from './kube-error.ts';

/** Whether the same request may succeed a little later: the server is busy, restarting, or its conversion webhook is. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof KubeError)) return true;
  return error.status === 408 || error.status === 429 || error.status >= 500;
}

/** Waits before try number `attempt` (from 0) is repeated: as long as the server asked for, else longer and longer. */
export function pause(error: unknown, attempt: number, { random, signal }: { random: () => number; signal?: AbortSignal | undefined }) {
  const asked = error instanceof KubeError ? error.retryAfterMs : undefined;
  return delay(Math.max(asked ?? 0, backoffMs(attempt, random, requestBackoff)), undefined, { signal });
}
