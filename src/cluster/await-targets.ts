import { abortable, within } from '../async/deadline.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
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
  const settled = abortable(cache.workloads.settled(starting), signal).catch(() => undefined);
  await within(patienceMs, settled);
}
