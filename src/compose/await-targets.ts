import { setTimeout as delay } from 'node:timers/promises';
import type { ImagePolicy, PolicySpec } from '../core/image-policy.ts';
import type { ClusterCache } from './cluster-cache.ts';

const patienceMs = 5_000;

/** Resolves when the workloads of all targets are known, or have failed to be: a look at a new kind waits some milliseconds instead of being repeated. */
export async function awaitTargets(
  policy: Pick<ImagePolicy, 'namespace'>,
  { targets }: PolicySpec,
  cache: ClusterCache,
  signal: AbortSignal,
): Promise<void> {
  const starting = targets.filter((target) => cache.targetState(target, policy) === 'starting');
  if (starting.length === 0) return;
  cache.workloads.want(starting);
  await unlessLate(cache.workloads.settled(starting), patienceMs, signal);
}

/** Resolves with the promise, or after the time. */
export async function unlessLate(promise: Promise<unknown>, timeoutMs: number, signal?: AbortSignal): Promise<void> {
  const timer = new AbortController();
  const signals = signal === undefined ? timer.signal : AbortSignal.any([signal, timer.signal]);
  try {
    await Promise.race([promise, delay(timeoutMs, undefined, { signal: signals, ref: false }).catch(() => undefined)]);
  } finally {
    timer.abort();
  }
}
