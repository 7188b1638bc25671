/** The last stage: makes the result of an attempt, as a value that `report.ts` reports. */
import type { Assessment } from '../../core/model/assessment.ts';
import { defined } from '../../core/model/defined.ts';
import type { Candidate } from '../../core/model/image-reference.ts';
import { timeAfter } from '../../core/model/last-update.ts';
import type { PolicyStatus } from '../../core/model/policy-status.ts';
import { resolveTargets } from '../../core/model/resolve-target.ts';
import { consentTo } from '../../core/plan/consent.ts';
import { isBestSelection, isSelection } from '../../core/plan/is-selection.ts';
import { outcomeOf, withNotes, withPending, type Basis, type Outcome } from '../../core/plan/outcome.ts';
import { guardWait, isSameImage } from '../../core/plan/pending-candidate.ts';
import { exceptionOf } from '../../core/plan/security-rules.ts';
import { hasChanges, type UpdatePlan } from '../../core/plan/plan-update.ts';
import { noteRetagged } from '../../core/plan/running-images.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import type { WorkloadRef } from '../../core/model/workload.ts';
import type { Attempt } from './attempt.ts';
import type { Applied } from './apply.ts';
import { planFor } from './plan.ts';
import type { Selected, Selection } from './selection.ts';

/** The outcome of an applied plan, with what is pending afterwards. */
export function resultOf({ selected, decision, plan, skipped, attempt }: Applied): Outcome {
  const { policy, request, cluster } = attempt;
  const { selection, status } = selected;
  const isNowSelected = decision.apply !== undefined && isSelected(selection, plan, policy);
  const outcome = withSkipped(describe(selection, plan, attempt, isNowSelected), skipped);
  const { waiting } = status;
  // An image that is too young first waits for its age, even if something else would block it now.
  const guarded = decision.apply && guardWait(plan, waiting, new Date(cluster.now()));
  // A user's request does not change the pending candidate, and neither does an image that is older than the selected one.
  if (selection.basis === 'UserRequest' || (guarded !== undefined && !isNowSelected)) return outcome;
  const noted = noteRetagged(outcome, policy, request);
  // A tag that changes nothing does not change the pending candidate, either: without a minimum age, only a reconcile of the pending image itself, or of all
  // tags, can decide whether it is still pending.
  if (!isNowSelected && selection.basis === 'OneTag' && selection.spec.minAgeMs === undefined) return noted;
  const isWanted = decision.next !== undefined && hasChanges(planFor(attempt, { spec: selection.spec, candidate: decision.next }));
  const next = guarded ?? (isWanted ? decision.next : undefined);
  const exception = next && exceptionOf(next.reason, selection.spec, next, selection.assessments);
  const kept = exception?.holds === false ? exception.why : undefined;
  const change = { ...defined({ seen: waiting, next, kept }) };
  const isUnchecked = plan.targets.some(({ blocked = [] }) => blocked.some(({ reason }) => reason === 'CheckPending'));
  const { tag, digest } = plan.candidate;
  const toCheck = guarded !== undefined && isUnchecked && { toCheck: { tag, ...defined({ digest }) } };
  const assessments = openAssessments(selected, next, attempt);
  return withPending({ ...noted, ...toCheck, assessments }, change, guarded !== undefined || decision.apply === undefined);
}

/** What is known of the images that would still change something: the selected one, and the one that waits. */
function openAssessments({ selection }: Selected, next: Candidate | undefined, attempt: Attempt): readonly Assessment[] {
  const { spec, candidate, assessments = [] } = selection;
  const images = [candidate, ...(next === undefined ? [] : [next])];
  const open = images.filter((image) => hasChanges(planFor(attempt, { ...selection, spec, candidate: image })));
  return assessments.filter(({ digest }) => open.some((image) => image.digest === digest));
}

/** The outcome of an update that says which waits it has skipped. */
function withSkipped(outcome: Outcome, skipped: readonly string[]): Outcome {
  if (outcome.kind !== 'updated' || skipped.length === 0) return outcome;
  return { ...outcome, skipped, message: [outcome.message, ...skipped].join('; ') };
}

/** What an outcome rests on, so that it is not reported once that has changed. `selected`: the status and the time, in ms since 1970, when the registry was asked. */
export function basisOf(
  { policy, spec, cluster }: Pick<Attempt, 'policy' | 'spec' | 'cluster'>,
  selected: { readonly status: Pick<PolicyStatus, 'latest'>; readonly selectedAt: number },
): Basis {
  const { latest } = selected.status;
  const { history, rejected } = policy.status;
  const workloads = resolveTargets(spec.targets, cluster);
  const selectedAt = timeAfter(latest?.selectedAt, new Date(selected.selectedAt)).getTime();
  return { status: { ...defined({ latest, history, rejected }) }, workloads, selectedAt };
}

function describe(selection: Selection, plan: UpdatePlan, attempt: Attempt, isNowSelected: boolean): Outcome {
  const { applied, followed } = attempt.progress;
  const outcome = outcomeOf(plan, applied, { uid: attempt.policy.uid, isSelection: isNowSelected });
  const isNamed = !isBestOfAll(selection, plan);
  const selected = outcome.selection && { ...outcome.selection, ...(isNamed && { isNamed }) };
  return withNotes(
    {
      ...outcome,
      ...defined({ selection: selected }),
      legacy: legacyTargets(plan, attempt),
      ...defined({ follows: followed?.policies }),
      ...(selection.isRemembered && { isRemembered: true }),
      ...defined({ sets: selection.sets }),
    },
    selection.notes,
  );
}

/** Whether the plan brings the targets to the image that the policy selects, not to an intermediate one or to one that only a user asked for. */
function isSelected(selection: Selection, plan: UpdatePlan, policy: ImagePolicy): boolean {
  const { spec, basis } = selection;
  if (basis === 'UserRequest') return false;
  return isBestOfAll(selection, plan) ? isBestSelection(spec, plan) : isSelection(plan.candidate, spec, policy, plan);
}

function isBestOfAll({ candidate, basis }: Selection, plan: UpdatePlan): boolean {
  return basis === 'AllTags' && isSameImage(candidate, plan.candidate);
}

/** Targets in other namespaces whose owners have neither given nor refused consent. */
function legacyTargets({ targets }: UpdatePlan, { policy, cluster }: Attempt): WorkloadRef[] {
  return targets.flatMap(({ target, workload }) => {
    const consent = workload && consentTo(workload, policy, cluster);
    return consent?.granted === true && consent.isLegacy === true ? [target] : [];
  });
}
