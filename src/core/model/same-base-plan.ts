/** Whether what was planned for a BaseImagePolicy may still be done. Pure. */
import type { BaseImagePolicy } from './base-policy.ts';
import { isNewer } from './workload.ts';

/**
 * Compares what an act was planned from with the newest state of the policy: its spec, the actions of its users that decide, the bases that were rejected, and, if
 * the act is for a `base`, whether that is still the selected one. Undefined, for a policy that is gone, is another state; one that is older than the planned one
 * shows nothing.
 */
export function isAsPlanned(planned: BaseImagePolicy, newest: BaseImagePolicy | undefined, base?: { readonly digest: string }): boolean {
  if (newest === undefined) return false;
  if (!isNewer(newest.resourceVersion, planned.resourceVersion)) return true;
  if (newest.uid !== planned.uid || newest.generation !== planned.generation || newest.isDeleting === true) return false;
  const { actions: before = {}, status } = planned;
  const { actions: after = {} } = newest;
  if (before.approve !== after.approve || before.release !== after.release) return false;
  if (base !== undefined && newest.status.latest?.digest !== base.digest) return false;
  const known = new Set(status.rejected?.map(({ digest }) => digest));
  return (newest.status.rejected ?? []).every(({ digest }) => known.has(digest));
}
