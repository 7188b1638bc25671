/** Holds the children of BaseImagePolicies that no longer want their changes. */
import { whyHeld } from './policies/why-held.ts';
import type { BasePolicyCache } from './base-policy-cache.ts';
import type { ClusterCache } from '../service/cluster/cluster-cache.ts';
import type { WhyHeld } from '../service/cluster/effective-policies.ts';
import type { NamespaceCache } from '../service/cluster/namespace-cache.ts';
import { matchesSelector } from '../core/model/label-selector.ts';
import type { BaseImagePolicy } from '../core/model/base-policy.ts';
import { sameActions } from '../core/model/policy-actions.ts';
import { isSameJson } from '../core/model/untyped.ts';
import type { Policies } from '../service/reconcile/ports.ts';

/** Why a child is held, according to the cache. Whether its workload is still selected is checked before a change, and by the reconcile of its parent. */
export function createWhyHeld({ policies }: Pick<BasePolicyCache, 'policies'>): WhyHeld {
  const view = { findWorkload: () => undefined, namespaceMatches: () => true, now: () => new Date() };
  return (policy) => whyHeld(policy, policy.parent && policies.get(policy.namespace, policy.parent.name), view);
}

/** Checks a child before a change, with its parent as it was at most 3 s ago. */
export function createConfirmParent(
  { readConfirmed }: Pick<BasePolicyCache, 'readConfirmed'>,
  { findWorkload }: Pick<ClusterCache, 'findWorkload'>,
  { labelsOf }: Pick<NamespaceCache, 'labelsOf'>,
): Policies['confirm'] {
  const view: Parameters<typeof whyHeld>[2] = {
    findWorkload,
    namespaceMatches: (namespace, selector) => matchesSelector(selector, labelsOf(namespace)),
    now: () => new Date(),
  };
  return async (policy, signal) => {
    const { namespace, parent } = policy;
    if (parent === undefined) return performance.now();
    const { object, confirmedAt } = await readConfirmed({ namespace, name: parent.name }, signal);
    return whyHeld(policy, object, view) === undefined ? confirmedAt : undefined;
  };
}

/** Refreshes the children after each change of their parent, except changes of its status that decide nothing. */
export function followParents(
  { policies }: Pick<BasePolicyCache, 'policies'>,
  { refreshChildren }: Pick<ClusterCache, 'refreshChildren'>,
): void {
  policies.subscribe(({ type, object, previous }) => {
    const isSame =
      type === 'updated' &&
      previous?.generation === object.generation &&
      previous.isDeleting === object.isDeleting &&
      sameActions(previous.actions, object.actions) &&
      isSameJson(decisionsIn(previous), decisionsIn(object));
    if (!isSame) refreshChildren(object);
  });
}

/** What a status says of decisions of people, which release or hold the children. */
function decisionsIn({ status: { approvals, rejected } }: BaseImagePolicy): unknown {
  return { approvals, rejected };
}
