/** Enqueues the policies that a changed workload, or the changed consent of a Namespace, concerns. */
import { asSeenBy, consentTo, type Asker, type ConsentRules } from '../../../core/plan/consent.ts';
import type { TargetState } from '../../../core/plan/plan-update.ts';
import { isUsable, scopeOf, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { sameLabels } from '../../../core/model/label-selector.ts';
import { matchesTarget, resolveTarget, type WorkloadView } from '../../../core/model/resolve-target.ts';
import type { KindRef, Workload } from '../../../core/model/workload.ts';
import { sourcesOf } from '../../../core/plan/chart-sources.ts';
import type { Enqueuer } from './enqueuer.ts';
import { visitTogether } from './visit-together.ts';

/** A change of a workload; `previous` is the state before it. */
export interface WorkloadChange {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly object: Workload;
  readonly previous?: Workload;
}

/** The known policies that a workload concerns, and the known workloads of its kind. */
export interface KnownTargets {
  /** The policies that name or select the workload and for which `maySee` is true. */
  readonly policiesOf: (workload: Workload, maySee: (asker: Asker) => boolean) => ImagePolicy[];
  readonly workloads: { readonly state: (kind: KindRef, namespace: string) => TargetState };
}

/** The policies that select a changed workload and may see it, or did so before the change. Policies without consent cost nothing. */
function policiesOf({ object, previous }: WorkloadChange, known: KnownTargets, rules: ConsentRules): ImagePolicy[] {
  const maySee = (asker: Asker) =>
    [object, previous].some((workload) => workload !== undefined && consentTo(workload, asker, rules).granted);
  return known.policiesOf(object, maySee);
}

/** Enqueues the policies that a changed workload concerns, if they need a reconcile, and returns all that it concerns. */
export function enqueueForWorkload(
  change: WorkloadChange,
  known: KnownTargets,
  rules: ConsentRules,
  enqueuer: Pick<Enqueuer, 'consider' | 'considerNewTarget'>,
): readonly ImagePolicy[] {
  const policies = policiesOf(change, known, rules);
  for (const policy of policies) enqueuer.consider(policy);
  enqueueNewTargets(change, policies, known, enqueuer);
  return policies;
}

/**
 * Enqueues the policies that select a workload now, and did not before: it was created, or its labels or its consent annotation changed. The workloads of the
 * first list after a start are not new targets.
 */
function enqueueNewTargets(
  { type, object, previous }: WorkloadChange,
  policies: readonly ImagePolicy[],
  known: KnownTargets,
  enqueuer: Pick<Enqueuer, 'considerNewTarget'>,
): void {
  if (type === 'deleted' || (previous !== undefined && sameLabels(previous.labels, object.labels) && sameConsent(previous, object))) return;
  const state = known.workloads.state(object, object.namespace);
  if (state === 'starting' || 'problem' in state) return;
  for (const policy of policies) {
    if (previous === undefined || !selects(policy, previous) || !sameConsent(previous, object))
      enqueuer.considerNewTarget(policy, object.uid);
  }
}

/**
 * Returns a function that enqueues the policies of other namespaces that have targets, or the sources of their charts, in a Namespace whose consent changed.
 */
export function createConsentListener(
  { findWorkload, listWorkloads }: WorkloadView,
  rules: ConsentRules,
  enqueuer: Pick<Enqueuer, 'consider' | 'considerNewTarget' | 'visitAll'>,
): (namespace: string) => void {
  return visitTogether(enqueuer, (policy, namespaces) => {
    if (isUsable(policy.spec) && policy.spec.after?.policies.some(({ namespace }) => namespaces.has(namespace)) === true)
      enqueuer.consider(policy);
    const { targets: all = [] } = scopeOf(policy.spec) ?? {};
    const isConcerned = ({ namespace }: { readonly namespace: string }) => namespace !== policy.namespace && namespaces.has(namespace);
    const targets = all.filter(isConcerned);
    const seen = asSeenBy(policy, { ...rules, findWorkload, listWorkloads });
    if (targets.length === 0 && !sourcesOf(all, seen).some(isConcerned)) return;
    enqueuer.consider(policy);
    for (const { uid } of targets.flatMap((target) => resolveTarget(target, seen))) enqueuer.considerNewTarget(policy, uid);
  });
}

function selects({ spec }: ImagePolicy, workload: Workload): boolean {
  return scopeOf(spec)?.targets.some((target) => matchesTarget(target, workload)) === true;
}

function sameConsent(a: Workload, b: Workload): boolean {
  return a.allowPoliciesFrom === b.allowPoliciesFrom;
}
