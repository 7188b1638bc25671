/** Checks whether a plan for a BaseImagePolicy may still be executed. Pure. */
import { isUsableBase, type BaseImagePolicy } from '../../core/model/base-policy.ts';
import { isSameJson } from '../../core/model/untyped.ts';
import { isNewer } from '../../core/model/workload.ts';

/**
 * Whether a plan is still valid for the newest state of the policy. Compares the spec, the actions of its users, the rejected bases and, for a plan about a
 * `base`, the selected one. A deleted policy (undefined) is another state. A state that is older than the planned one proves nothing.
 */
export function isAsPlanned(planned: BaseImagePolicy, newest: BaseImagePolicy | undefined, base?: { readonly digest: string }): boolean {
  if (newest === undefined) return false;
  if (!isNewer(newest.resourceVersion, planned.resourceVersion)) return true;
  if (newest.uid !== planned.uid || newest.generation !== planned.generation || newest.isDeleting === true) return false;
  const { actions: before = {}, status } = planned;
  const { actions: after = {} } = newest;
  if (before.approve !== after.approve || before.release !== after.release || before.reject !== after.reject) return false;
  const asksMany = isUsableBase(planned.spec) && planned.spec.base.approvals !== undefined;
  if (asksMany && !isSameJson(before.approvals ?? [], after.approvals ?? [])) return false;
  if (base !== undefined && newest.status.latest?.digest !== base.digest) return false;
  const known = new Set(status.rejected?.map(({ digest }) => digest));
  return (newest.status.rejected ?? []).every(({ digest }) => known.has(digest));
}
