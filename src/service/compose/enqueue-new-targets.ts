import { asSeenBy, consentTo, type Asker, type ConsentRules } from '../../core/plan/consent.ts';
import { scopeOf, type ImagePolicy } from '../../core/model/image-policy.ts';
import { sameLabels } from '../../core/model/label-selector.ts';
import { matchesTarget, resolveTarget } from '../../core/model/resolve-target.ts';
import type { Workload } from '../../core/model/workload.ts';
import type { ObjectChange } from '../kube/object-store.ts';
import type { Enqueuer } from '../reconcile/enqueue/enqueuer.ts';
import type { ClusterCache } from '../cluster/cluster-cache.ts';

type Cache = Pick<ClusterCache, 'policiesOf' | 'workloads'>;
type Change = ObjectChange<Workload>;

/** The policies that select a changed workload and may see it, or did so before. Policies without consent cost nothing. */
function policiesOf({ object, previous }: Change, cache: Cache, rules: ConsentRules): ImagePolicy[] {
  const maySee = (asker: Asker) =>
    [object, previous].some((workload) => workload !== undefined && consentTo(workload, asker, rules).granted);
  return cache.policiesOf(object, maySee);
}

/** Enqueues the policies that a changed workload concerns, if they need a reconcile. */
export function enqueueForWorkload(
  change: Change,
  cache: Cache,
  rules: ConsentRules,
  enqueuer: Pick<Enqueuer, 'consider' | 'considerNewTarget'>,
): void {
  const policies = policiesOf(change, cache, rules);
  for (const policy of policies) enqueuer.consider(policy);
  enqueueNewTargets(change, policies, cache, enqueuer);
}

/**
 * Enqueues the policies that select a workload now, and did not before: it was created, or its labels or its consent annotation changed. The workloads of the
 * first list are not new targets.
 */
function enqueueNewTargets(
  { type, object, previous }: Change,
  policies: readonly ImagePolicy[],
  cache: Cache,
  enqueuer: Pick<Enqueuer, 'considerNewTarget'>,
): void {
  if (type === 'deleted' || (previous !== undefined && sameLabels(previous.labels, object.labels) && sameConsent(previous, object))) return;
  const state = cache.workloads.state(object, object.namespace);
  if (state === 'starting' || 'problem' in state) return;
  for (const policy of policies) {
    if (previous === undefined || !selects(policy, previous) || !sameConsent(previous, object))
      enqueuer.considerNewTarget(policy, object.uid);
  }
}

/** Enqueues the policies of other namespaces that have targets in a Namespace whose consent changed. */
export function enqueueForConsent(
  namespace: string,
  cache: Pick<ClusterCache, 'policies' | 'findWorkload' | 'listWorkloads'>,
  rules: ConsentRules,
  enqueuer: Pick<Enqueuer, 'consider' | 'considerNewTarget'>,
): void {
  for (const policy of cache.policies.values()) {
    if (policy.namespace === namespace) continue;
    const { targets: all = [] } = scopeOf(policy.spec) ?? {};
    const targets = all.filter((target) => target.namespace === namespace);
    if (targets.length > 0) enqueuer.consider(policy);
    const seen = asSeenBy(policy, { ...rules, findWorkload: cache.findWorkload, listWorkloads: cache.listWorkloads });
    for (const { uid } of targets.flatMap((target) => resolveTarget(target, seen))) enqueuer.considerNewTarget(policy, uid);
  }
}

function selects({ spec }: ImagePolicy, workload: Workload): boolean {
  return scopeOf(spec)?.targets.some((target) => matchesTarget(target, workload)) === true;
}

function sameConsent(a: Workload, b: Workload): boolean {
  return a.allowPoliciesFrom === b.allowPoliciesFrom;
}
