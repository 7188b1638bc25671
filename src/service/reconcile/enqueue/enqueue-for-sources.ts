/** Enqueues the policies whose charts depend on a changed object that holds the URL of their repository. */
import { isSourceKind, sourcesOf } from '../../../core/plan/chart-sources.ts';
import { asSeenBy, type ConsentRules } from '../../../core/plan/consent.ts';
import { scopeOf, type ImagePolicy } from '../../../core/model/image-policy.ts';
import type { WorkloadView } from '../../../core/model/resolve-target.ts';
import { workloadKey } from '../../../core/model/workload.ts';
import type { Enqueuer } from './enqueuer.ts';
import type { KnownTargets, WorkloadChange } from './enqueue-new-targets.ts';
import { visitTogether } from './visit-together.ts';

/**
 * Returns a function that considers the policies whose targets refer to a source that was created, deleted or changed, in its spec or in its consent. Its
 * status changes far more often, and decides nothing. A policy that may not see the source gets no job, because what it may see is as before.
 */
export function createSourceListener(
  { findWorkload, listWorkloads, workloads }: WorkloadView & Pick<KnownTargets, 'workloads'>,
  rules: ConsentRules,
  enqueuer: Pick<Enqueuer, 'consider' | 'visitAll'>,
): (change: WorkloadChange) => void {
  const visit = (policy: ImagePolicy, changed: ReadonlySet<string>) => {
    const { targets = [] } = scopeOf(policy.spec) ?? {};
    const sources = sourcesOf(targets, asSeenBy(policy, { ...rules, findWorkload, listWorkloads }));
    if (sources.some((source) => changed.has(workloadKey(source)))) enqueuer.consider(policy);
  };
  const onSource = visitTogether(enqueuer, visit);
  return ({ type, object, previous }) => {
    if (!isSourceKind(object) || (type === 'updated' && previous !== undefined && isSame(previous, object))) return;
    // When all of a kind are listed, all policies are checked.
    const state = workloads.state(object, object.namespace);
    if (state !== 'starting' && !('problem' in state)) onSource(workloadKey(object));
  };
}

function isSame(a: WorkloadChange['object'], b: WorkloadChange['object']): boolean {
  return a.uid === b.uid && a.generation === b.generation && a.allowPoliciesFrom === b.allowPoliciesFrom && a.isDeleted === b.isDeleted;
}
