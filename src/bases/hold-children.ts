/** Holds the children of BaseImagePolicies that do not want their work any more. */
import { whyHeld } from './policies/why-held.ts';
import type { BasePolicyCache } from './base-policy-cache.ts';
import type { ClusterCache } from '../service/cluster/cluster-cache.ts';
import type { WhyHeld } from '../service/cluster/effective-policies.ts';
import type { NamespaceCache } from '../service/cluster/namespace-cache.ts';
import { matchesSelector } from '../core/model/label-selector.ts';
import { sameActions } from '../core/model/policy-actions.ts';
import type { Policies } from '../service/reconcile/ports.ts';

/** Why a child is held, by the cache alone. Whether its workload is still selected is asked only before a change, and by the reconcile of its parent. */
export function createWhyHeld({ policies }: Pick<BasePolicyCache, 'policies'>): WhyHeld {
  const view = { findWorkload: () => undefined, namespaceMatches: () => true };
  return (policy) => whyHeld(policy, policy.parent && policies.get(policy.namespace, policy.parent.name), view);
}

/** The check before a change, with the parent as it was at most 3 s ago. */
export function createConfirmParent(
  { readConfirmed }: Pick<BasePolicyCache, 'readConfirmed'>,
  { findWorkload }: Pick<ClusterCache, 'findWorkload'>,
  { labelsOf }: Pick<NamespaceCache, 'labelsOf'>,
): Policies['confirm'] {
  const view: Parameters<typeof whyHeld>[2] = {
    findWorkload,
    namespaceMatches: (namespace, selector) => matchesSelector(selector, labelsOf(namespace)),
  };
  return async (policy, signal) => {
    const { namespace, parent } = policy;
    if (parent === undefined) return performance.now();
    const { object, confirmedAt } = await readConfirmed({ namespace, name: parent.name }, signal);
    return whyHeld(policy, object, view) === undefined ? confirmedAt : undefined;
  };
}

/** Has the children follow each change of their parent, except those of its status. */
export function followParents(
  { policies }: Pick<BasePolicyCache, 'policies'>,
  { refreshChildren }: Pick<ClusterCache, 'refreshChildren'>,
): void {
  policies.subscribe(({ type, object, previous }) => {
    const isSame =
      type === 'updated' &&
      previous?.generation === object.generation &&
      previous.isDeleting === object.isDeleting &&
      sameActions(previous.actions, object.actions);
    if (!isSame) refreshChildren(object);
  });
}
